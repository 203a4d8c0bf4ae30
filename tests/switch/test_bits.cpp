#include <gtest/gtest.h>

#include <string_view>

#include "switch/bits.hpp"
#include "switch/hash.hpp"

namespace polysome::p4 {
namespace {

const std::uint8_t counting[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

TEST(Bits, AreLoadedBigEndianWhateverTheirSize) {
    EXPECT_EQ(load<1>(counting), 1);
    EXPECT_EQ(load<2>(counting), 0x0102);
    EXPECT_EQ(load<3>(counting), 0x010203u);
    EXPECT_EQ(load<5>(counting), 0x0102030405ull);
    EXPECT_EQ(load<6>(counting), 0x010203040506ull);
    EXPECT_EQ(load<7>(counting), 0x01020304050607ull);
    EXPECT_EQ(load<8>(counting), 0x0102030405060708ull);
    EXPECT_TRUE(load<12>(counting) == (u128{0x01020304} << 64 | 0x05060708090a0b0cull));
    EXPECT_TRUE(load<16>(counting) == (u128{0x0102030405060708ull} << 64 | 0x090a0b0c0d0e0f10ull));
}

template <unsigned K>
void stored() {
    std::uint8_t out[K + 2] = {};
    out[0] = out[K + 1] = 0xee;
    store<K>(out + 1, load<K>(counting));
    EXPECT_EQ(std::memcmp(out + 1, counting, K), 0) << K;
    EXPECT_EQ(out[0], 0xee) << K;
    EXPECT_EQ(out[K + 1], 0xee) << K;
}

TEST(Bits, AreStoredAsTheyWereLoaded) {
    stored<1>(), stored<2>(), stored<3>(), stored<4>(), stored<5>(), stored<6>(), stored<7>(), stored<8>(), stored<9>();
    stored<12>(), stored<13>(), stored<15>(), stored<16>();
}

TEST(Bits, Saturate) {
    EXPECT_EQ((add_saturating<5>(30, 1)), 31);
    EXPECT_EQ((add_saturating<5>(30, 2)), 31);
    EXPECT_EQ((add_saturating<32>(0xffffffffu, 0xffffffffu)), 0xffffffffu);
    EXPECT_EQ((subtract_saturating<16>(5, 5)), 0);
    EXPECT_EQ((subtract_saturating<16>(5, 6)), 0);
    EXPECT_EQ((subtract_saturating<16>(6, 5)), 1);
    EXPECT_EQ(saturate_signed<8>(127 + 1), 127);
    EXPECT_EQ(saturate_signed<8>(-128 - 1), 0x80);
    EXPECT_EQ(to_signed<5>(0x1f), -1);
    EXPECT_EQ(to_signed<64>(1ull << 63), INT64_MIN);
}

TEST(Checksums, FoldToZeroOnlyIfNothingWasAdded) {
    EXPECT_EQ(fold(0), 0);
    EXPECT_EQ(fold(0xffff), 0xffff);
    EXPECT_EQ(fold(0x1fffe), 0xffff);
    EXPECT_EQ(fold(0x10000), 1);
    EXPECT_EQ(fold(~0ull), 0xffff);  // 2^64 - 1 is a multiple of 2^16 - 1
    EXPECT_EQ(fold(0xffffffffull * 5 + 7), 7);
    EXPECT_EQ(checksum(0xffff, false), 0);
    EXPECT_EQ(checksum(0xffff, true), 0xffff);
    EXPECT_EQ(checksum(0x1234, true), 0xedcb);
}

TEST(Checksums, WordsOfAValueWhereverItStands) {
    EXPECT_EQ(words(std::uint8_t{0xab}, 8), 0xab00u);
    EXPECT_EQ(words(std::uint32_t{0x12345678}, 0), 0x1234u + 0x5678u);
    EXPECT_EQ(words(std::uint32_t{0x12345678}, 8), 0x12u + 0x3456u + 0x7800u);
    EXPECT_EQ(fold(words(std::uint64_t{0x0001000200030004ull}, 0)), 10);
    EXPECT_EQ(fold(words(u128{1} << 112 | u128{2} << 64 | 3, 0)), 6);
    EXPECT_EQ(packet_words(counting, 4), 0x0102u + 0x0304u);
    EXPECT_EQ(packet_words(counting, 3), 0x0102u + 0x0300u);
}

// RFC 1624, section 4: the checksum dd2f of a header whose field goes from 5555 to 3285 becomes 0.
TEST(Checksums, TheExampleOfRfc1624) {
    Residual residual;
    residual.subtract(words(std::uint16_t{0xdd2f}, 0) + words(std::uint16_t{0x5555}, 0), 2);
    const auto rest = residual.get();
    EXPECT_EQ(checksum(words(rest, 0) + words(std::uint16_t{0x3285}, 0), false), 0);
}

std::span<const std::uint8_t> text(std::string_view of) {
    return {reinterpret_cast<const std::uint8_t*>(of.data()), of.size()};
}

// The check values of the catalogue of parametrised CRC algorithms.
TEST(Hashes, CheckValues) {
    EXPECT_EQ(Crc32::of(text("123456789")), 0xcbf43926u);
    EXPECT_EQ(Crc16::of(text("123456789")), 0xbb3du);
    EXPECT_EQ(Crc8::of(text("123456789")), 0x20u);  // reflected, as CRC-8/ROHC but from 0
    EXPECT_EQ(Crc32::of({}), 0u);
}

TEST(Hashes, FieldsAreJoinedFromTheHighestBit) {
    Joined<20> odd;
    odd.put<4>(0xau);
    odd.put<13>(0x1234u);
    odd.put<3>(5u);
    const std::uint8_t wanted[] = {0x0a, 0x91, 0xa5};
    EXPECT_EQ(std::memcmp(odd.bytes().data(), wanted, 3), 0);
    Joined<132> wide;
    wide.put<4>(0xfu);
    wide.put<128>(u128{0x0123456789abcdefull} << 64 | 0xfedcba9876543210ull);
    EXPECT_EQ(wide.bytes()[0], 0xf);
    EXPECT_EQ(load<8>(wide.bytes().data() + 1), 0x0123456789abcdefull);
    EXPECT_EQ(load<8>(wide.bytes().data() + 9), 0xfedcba9876543210ull);
}

}  // namespace
}  // namespace polysome::p4
