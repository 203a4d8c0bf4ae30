// Section 5 of STATE.md: hashing. The vectors of S5.1 are those of the reference implementation's test.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

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

/// The definition, byte by byte.
uint64_t defined(u128 key, const std::vector<uint8_t>& message) {
    std::array<uint64_t, 4> v = {0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573};
    for (size_t i = 0; i < 4; ++i) v[i] ^= static_cast<uint64_t>(i % 2 == 0 ? key : key >> 64);
    const auto rounds = [&v](int n) {
        for (; n > 0; --n) {
            v[0] += v[1], v[1] = std::rotl(v[1], 13) ^ v[0], v[0] = std::rotl(v[0], 32);
            v[2] += v[3], v[3] = std::rotl(v[3], 16) ^ v[2];
            v[0] += v[3], v[3] = std::rotl(v[3], 21) ^ v[0];
            v[2] += v[1], v[1] = std::rotl(v[1], 17) ^ v[2], v[2] = std::rotl(v[2], 32);
        }
    };
    std::vector<uint8_t> padded = message;
    padded.resize(message.size() / 8 * 8 + 7);
    padded.push_back(static_cast<uint8_t>(message.size()));
    for (size_t at = 0; at < padded.size(); at += 8) {
        uint64_t word = 0;
        for (size_t i = 8; i-- > 0;) word = word << 8 | padded[at + i];
        v[3] ^= word, rounds(2), v[0] ^= word;
    }
    v[2] ^= 0xff, rounds(4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

TEST(SipHash, S5_1_messagesOfEveryLength) {
    std::vector<uint8_t> message;
    for (size_t size = 0; size < 300; ++size) {
        ASSERT_EQ(siphash(reference_key(), message.data(), message.size()), defined(reference_key(), message));
        message.push_back(static_cast<uint8_t>(size * 37 + 11));
    }
    EXPECT_EQ(siphash(7, message.data(), 37), defined(7, {message.begin(), message.begin() + 37}));
    EXPECT_EQ(siphash(7, message.data(), 16), defined(7, {message.begin(), message.begin() + 16}));
}

/// Messages of `size` bytes in all lanes: of their own, and the same one in several.
template <size_t size>
void compare_together() {
    std::array<SipMessage<size>, sip_lanes> messages;
    std::array<std::vector<uint8_t>, sip_lanes> bytes;
    for (size_t lane = 0; lane < sip_lanes; ++lane) {
        for (size_t i = 0; i < size; ++i) bytes[lane].push_back(static_cast<uint8_t>(lane * 41 + i * 37 + 128));
        std::memset(&messages[lane], 0xee, sizeof messages[lane]);
        std::copy(bytes[lane].begin(), bytes[lane].end(), messages[lane].bytes());
    }
    siphash_together(reference_key(), [&](size_t lane) -> auto& { return messages[lane]; });
    for (size_t lane = 0; lane < sip_lanes; ++lane)
        ASSERT_EQ(messages[lane].hash, defined(reference_key(), bytes[lane])) << size << ' ' << lane;
    for (auto& message : messages) message.hash = 0;
    siphash_together(reference_key(), [&](size_t lane) -> auto& { return messages[std::min<size_t>(lane, 2)]; });
    for (size_t lane = 0; lane < sip_lanes; ++lane)
        ASSERT_EQ(messages[lane].hash, lane > 2 ? 0 : defined(reference_key(), bytes[lane])) << size << ' ' << lane;
}

TEST(SipHash, S5_1_severalMessagesOfEveryLengthTogether) {
    [&]<size_t... size>(std::index_sequence<size...>) {
        (compare_together<size>(), ...);
    }(std::make_index_sequence<64>());
    compare_together<255>();
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
