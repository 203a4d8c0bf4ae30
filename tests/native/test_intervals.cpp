// Intervals: the search below lpm and acl. The model is a search through all beginnings.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "nf/intervals.hpp"

namespace polysome {
namespace {

template <class Key>
using Begins = std::map<Key, uint32_t>;

template <class Key>
uint32_t model(const Begins<Key>& begins, Key key) {
    return std::prev(begins.upper_bound(key))->second;
}

/// Asks at every beginning, beside it, at the ends, and at random.
template <class Key>
void check(const Begins<Key>& begins, std::mt19937_64& random) {
    Intervals<Key> intervals;
    intervals.build({begins.begin(), begins.end()});
    const auto ask = [&](Key key) { ASSERT_EQ(intervals.find(key), model(begins, key)); };
    for (const auto& [key, value] : begins)
        for (const Key at : {key, static_cast<Key>(key - 1), static_cast<Key>(key + 1)}) ask(at);
    for (unsigned bit = 0; bit < 8 * sizeof(Key); ++bit) ask(static_cast<Key>(~Key{0} >> bit));
    for (int i = 0; i < 200; ++i) ask(static_cast<Key>(static_cast<u128>(random()) << 64 | random()) >> random() % 32);
}

template <class Key>
class IntervalsOf : public testing::Test {};
using Keys = testing::Types<uint32_t, uint64_t, u128>;
TYPED_TEST_SUITE(IntervalsOf, Keys);

TYPED_TEST(IntervalsOf, DoWhatASearchDoes) {
    using Key = TypeParam;
    std::mt19937_64 random(3);
    for (const size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 16u, 17u, 40u, 300u, 3000u}) {
        for (int round = 0; round < 8; ++round) {
            Begins<Key> begins = {{0, 7}};
            const unsigned spread = 8 * sizeof(Key) - static_cast<unsigned>(random() % (8 * sizeof(Key) - 14));
            const Key far = static_cast<Key>(static_cast<u128>(random()) << 64 | random());
            while (begins.size() < count + 1) {
                Key key = static_cast<Key>(static_cast<u128>(random()) << 64 | random());
                key = static_cast<Key>(key >> (8 * sizeof(Key) - spread));
                if (round % 2 == 1) key = static_cast<Key>(far + (random() % 3 == 0 ? key : key % 8192));  // in crowds
                if (round % 4 >= 2) key = static_cast<Key>(key >> random() % 9 << random() % 9);
                begins[key] = static_cast<uint32_t>(random() % 5);
            }
            check(begins, random);
        }
    }
}

TYPED_TEST(IntervalsOf, CrowdsWithinCrowdsAreFound) {
    using Key = TypeParam;
    std::mt19937_64 random(4);
    Begins<Key> begins = {{0, 0}};
    for (unsigned bit = 0; bit < 8 * sizeof(Key); ++bit)  // ever closer together
        for (Key near = 0; near < 20; ++near) begins[static_cast<Key>((Key{1} << bit) + near)] = bit + near % 2;
    begins[~Key{0}] = 99;
    check(begins, random);
}

TEST(Intervals, NothingIsZero) {
    EXPECT_EQ(Intervals<uint32_t>().find(5), 0u);
    EXPECT_EQ(Intervals<u128>().find(~u128{0}), 0u);
}

TEST(Intervals, HalvesThatFollowEachOther) {
    std::mt19937_64 random(5);
    Begins<u128> begins = {{0, 1}};
    const u128 half = u128{1} << 64;
    for (u128 i = 1; i < 40; ++i) begins[half * i + (i % 3 == 0 ? 0 : i)] = static_cast<uint32_t>(i);
    for (u128 i = 0; i < 40; ++i) begins[(~u128{0} - half * i) + 1 - half / 2] = static_cast<uint32_t>(100 + i);
    check(begins, random);
}

}  // namespace
}  // namespace polysome
