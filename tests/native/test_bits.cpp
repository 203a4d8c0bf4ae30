#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "nf/bits.hpp"

using namespace polysome;

namespace {

/// Bit by bit; bytes at or beyond `end` read 0.
u128 slow_read(const std::vector<uint8_t>& data, uint32_t bit, uint32_t width, uint32_t end) {
    u128 value = 0;
    for (uint32_t b = bit; b < bit + width; ++b)
        value = value << 1 | (b / 8 < end ? data[b / 8] >> (7 - b % 8) & 1 : 0);
    return value;
}
void slow_write(std::vector<uint8_t>& data, uint32_t bit, uint32_t width, u128 value, uint32_t end) {
    for (uint32_t k = 0; k < width; ++k) {
        const uint32_t b = bit + width - 1 - k;
        const uint8_t mask = static_cast<uint8_t>(1 << (7 - b % 8));
        if (b / 8 < end) data[b / 8] = static_cast<uint8_t>((data[b / 8] & ~mask) | (value >> k & 1 ? mask : 0));
    }
}
bool same(u128 a, u128 b) { return a == b; }

TEST(Bits, L4_9_EveryPlaceAndWidthReadsBitByBit) {
    std::mt19937 random(1);
    std::vector<uint8_t> data(24);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
    for (uint32_t bit = 0; bit < 24; ++bit) {
        for (uint32_t width = 1; width <= 128; ++width) {
            for (const uint32_t end : {24u, 20u, 9u, 2u, 0u}) {
                ASSERT_TRUE(same(read_bits(data.data(), bit, width, end), slow_read(data, bit, width, end)))
                    << bit << ' ' << width << ' ' << end;
            }
        }
    }
}

TEST(Bits, L4_9_EveryPlaceAndWidthIsWrittenBitByBitAndNothingBeside) {
    std::mt19937 random(2);
    std::vector<uint8_t> start(24);
    for (uint8_t& byte : start) byte = static_cast<uint8_t>(random());
    for (uint32_t bit = 0; bit < 24; ++bit) {
        for (uint32_t width = 1; width <= 128; ++width) {
            for (const uint32_t end : {24u, 20u, 9u, 2u, 0u}) {
                const u128 value =
                    (u128{random()} << 96 | u128{random()} << 64 | u128{random()} << 32 | random()) & low_bits(width);
                std::vector<uint8_t> fast = start, slow = start;
                write_bits(fast.data(), bit, width, value, end);
                slow_write(slow, bit, width, value, end);
                ASSERT_EQ(fast, slow) << bit << ' ' << width << ' ' << end;
            }
        }
    }
}

TEST(Bits, SlicesReadZeroBeyondTheEnd) {
    const uint8_t data[] = {1, 2, 3, 4, 5};
    EXPECT_TRUE(same(slice_bytes(data, 1, 3, 1, 5), 0x0304));
    EXPECT_TRUE(same(slice_bytes(data, 0, 4, 3, 5), 0x04050000));
    EXPECT_TRUE(same(slice_bytes(data, 2, 4, 3, 5), 0));
    EXPECT_TRUE(same(slice_bytes(data, 2, 2, 0, 5), 0));
    EXPECT_TRUE(same(slice_bytes(data, 0, 16, 0, 5), u128{0x0102030405} << 88));
}

TEST(Bits, StoreIsWhatLoadReads) {
    uint8_t data[17] = {};
    store(data + 1, u128{0x0102030405060708} << 64 | 0x090a0b0c0d0e0f10);
    for (uint8_t i = 0; i < 17; ++i) EXPECT_EQ(data[i], i);
    EXPECT_EQ(load<uint16_t>(data + 1), 0x0102);
    EXPECT_EQ(load<uint32_t>(data + 3), 0x03040506u);
    store<uint16_t>(data, 0xabcd);
    EXPECT_EQ(load<uint8_t>(data + 1), 0xcd);
}

}  // namespace
