// Section 5 of STATE.md: hashing. The vectors of S5.1 are those of the reference implementation's test.
#include <gtest/gtest.h>

#include <numeric>

#include "nf/siphash.hpp"

namespace polysome {
namespace {

u128 reference_key() {
    u128 key = 0;
    for (unsigned i = 16; i-- > 0;) key = key << 8 | i;
    return key;
}

TEST(SipHash, S5_1_theReferenceVectors) {
    std::array<uint8_t, 15> message;
    std::iota(message.begin(), message.end(), uint8_t{0});
    EXPECT_EQ(siphash(reference_key(), message.data(), 15), 0xa129ca6149be45e5);
    EXPECT_EQ(siphash(reference_key(), message.data(), 0), 0x726fdb47dd0e0e31);
    EXPECT_EQ(siphash(reference_key(), message.data(), 1), 0x74f839c593dc67fd);
}

TEST(SipHash, S5_2_bothHalvesOfTheSeedCount) {
    const uint8_t byte = 0;
    EXPECT_NE(siphash(1, &byte, 1), siphash(u128{1} << 64, &byte, 1));
}

TEST(SipHash, S5_5_places) {
    uint64_t hash = 0x4000000080000000;
    const uint64_t step = place_step(hash);
    EXPECT_EQ(step, 0x8000000040000001);
    EXPECT_EQ(place(hash, 10), 2u);
    EXPECT_EQ(place(hash += step, 10), 7u);
    EXPECT_EQ(hash, 0xc0000000c0000001);
    EXPECT_EQ(place(hash += step, 10), 2u);
    EXPECT_EQ(hash, 0x4000000100000002);
    EXPECT_EQ(place_step(0), 1u);
    EXPECT_EQ(place(~uint64_t{0}, 10), 9u);
}

}  // namespace
}  // namespace polysome
