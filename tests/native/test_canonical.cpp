// Canonical bytes (STATE.md, S5.3).
#include <gtest/gtest.h>

#include <vector>

#include "nf/canonical.hpp"

namespace polysome {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr u128 number = static_cast<u128>(0x0102030405060708) << 64 | 0x090a0b0c0d0e0f10;

TEST(Writer, S5_3_theLowestBytesBigEndian) {
    for (size_t size = 0; size <= 16; ++size) {
        Bytes bytes(size);  // not one more: a sanitizer would tell
        Writer writer(bytes.data());
        writer.put(number, size);
        ASSERT_EQ(writer.size(), size);
        for (size_t i = 0; i < size; ++i) ASSERT_EQ(bytes[i], 16 - size + i + 1);
    }
}

TEST(Writer, S5_3_oneAfterTheOther) {
    uint8_t bytes[10];
    Writer writer(bytes);
    writer.put(0xabcd, 1);
    writer.put(0x0102, 2);
    writer.put(number, 6);
    writer.put(5, 1);
    EXPECT_EQ(writer.data(), bytes);
    EXPECT_EQ(Bytes(bytes, bytes + writer.size()), (Bytes{0xcd, 1, 2, 11, 12, 13, 14, 15, 16, 5}));
}

TEST(Writer, S5_3_aPrefixIsItsAddressAndItsLength) {
    uint8_t bytes[17];
    Writer four(bytes), six(bytes);
    canonical(four, Prefix{0x0a000000, 32, 8});
    EXPECT_EQ(Bytes(bytes, bytes + four.size()), (Bytes{10, 0, 0, 0, 8}));
    canonical(six, Prefix{static_cast<u128>(0x20010db8) << 96, 128, 32});
    EXPECT_EQ(Bytes(bytes, bytes + six.size()), (Bytes{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32}));
}

}  // namespace
}  // namespace polysome
