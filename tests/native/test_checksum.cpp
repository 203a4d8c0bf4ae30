#include <gtest/gtest.h>

#include <random>

#include "nf/checksum.hpp"
#include "tiny_frames.hpp"

using namespace polysome;
using tiny::Bytes;

namespace {

Bytes random_bytes(std::mt19937& random, size_t size) {
    Bytes bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
}

TEST(Checksum, L10_4_RFC1071ExampleOfSection3) {
    EXPECT_EQ(checksum(tiny::hex("0001 f203 f4f5 f6f7")), 0xffff - 0xddf2);
}

TEST(Checksum, L10_4_IsWordByWord) {
    std::mt19937 random(1);
    for (size_t size = 0; size < 200; ++size) {
        const Bytes bytes = random_bytes(random, size);
        EXPECT_EQ(checksum(bytes), tiny::sum_of(bytes)) << size;
    }
}

TEST(Checksum, L10_4_OfZerosOnlyIsFfffElseNever) {
    EXPECT_EQ(checksum({}), 0xffff);
    EXPECT_EQ(checksum(Bytes(17)), 0xffff);
    EXPECT_EQ(checksum(tiny::hex("ffff")), 0);
    EXPECT_EQ(checksum(tiny::hex("0000 fffe 0001")), 0);
    EXPECT_EQ(checksum(Bytes(100000, 0xff)), 0);
}

TEST(Checksum, PiecesMayEndInTheMiddleOfAWord) {
    std::mt19937 random(2);
    for (int round = 0; round < 500; ++round) {
        const Bytes bytes = random_bytes(random, random() % 64);
        Sum sum;
        for (size_t at = 0; at < bytes.size();) {
            const size_t next = std::min(bytes.size(), at + random() % 8);
            sum.add(tiny::part(bytes, at, next));
            at = next;
        }
        ASSERT_EQ(sum.checksum(), tiny::sum_of(bytes));
    }
}

TEST(Checksum, L10_2_UpdatedIsTheWholeOneOfTheNewBytes) {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        Bytes bytes = random_bytes(random, 20);
        const uint16_t old = tiny::sum_of(bytes), word = static_cast<uint16_t>(random());
        const int64_t before = bytes[6] << 8 | bytes[7];
        tiny::put16(bytes, 6, word);
        ASSERT_EQ(updated(old, word - before), tiny::sum_of(bytes));
    }
}

TEST(Checksum, L10_2_UpdatedIsNeverFfff) {
    EXPECT_EQ(updated(0xffff, 0), 0);
    EXPECT_EQ(updated(0, 0), 0);
    EXPECT_EQ(updated(0xfffe, -1), 0);
    EXPECT_EQ(updated(1, 1), 0);
    EXPECT_EQ(updated(0, 0xffff), 0);
    EXPECT_EQ(updated(0, -0xffff), 0);
    for (int64_t difference = -0x1ffff; difference < 0x1ffff; difference += 7) {
        ASSERT_NE(updated(0x1234, difference), 0xffff);
        ASSERT_EQ((0xffff - updated(0x1234, difference) - (0xffff - 0x1234) - difference) % 0xffff, 0);
    }
}

TEST(Checksum, L10_2_EveryChecksumIsUpdatedByTheDefinition) {
    // 65535 - acc, where acc is congruent to (65535 - old) + difference, and 1 to 65535
    for (const int64_t difference :
         {0l, 1l, -1l, 2l, 0xfffel, 0xffffl, 0x10000l, -0xffffl, -0x10000l, (1l << 55) - 1, 1 - (1l << 55)}) {
        for (int64_t old = 0; old <= 0xffff; ++old) {
            const int64_t sum = (0xffff - old + difference) % 0xffff, acc = sum <= 0 ? sum + 0xffff : sum;
            ASSERT_EQ(updated(static_cast<uint16_t>(old), difference), 0xffff - acc) << old << " by " << difference;
        }
    }
}

TEST(Checksum, L10_2_RFC1624ExampleOfSection4) {
    // HC = dd2f, m = 5555, m' = 3285: 0000, where RFC 1141 gives ffff.
    EXPECT_EQ(updated(0xdd2f, 0x3285 - 0x5555), 0);
}

}  // namespace
