// runtime/nf/key_index.hpp, and the tables over it with keys that are no numbers.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

#include "nf/key_index.hpp"
#include "nf/map_table.hpp"
#include "nf/set_table.hpp"

namespace polysome {
namespace {

template <class K>
class KeyIndexOf : public testing::Test {};
using Keys = testing::Types<bool, uint8_t, uint16_t, uint32_t, uint64_t, u128>;
TYPED_TEST_SUITE(KeyIndexOf, Keys);

TYPED_TEST(KeyIndexOf, finds_all_that_are_there_and_nothing_else) {
    using K = TypeParam;
    std::mt19937_64 random(1);
    const auto any = [&] {
        if constexpr (sizeof(K) > 8) {
            return static_cast<K>(random() % 4) << 64 | random() % 4;  // both halves matter
        } else {
            return static_cast<K>(random() & 0x1ff);
        }
    };
    for (int round = 0; round < 50; ++round) {
        std::set<K> chosen;
        for (uint64_t left = random() % 200; left > 0; --left) chosen.insert(any());
        const std::vector<K> keys(chosen.begin(), chosen.end());
        KeyIndex<K> index;
        EXPECT_EQ(index.find(any()), KeyIndex<K>::absent) << "empty at first";
        index.build(static_cast<uint32_t>(keys.size()), [&](uint32_t i) { return keys[i]; });
        for (uint32_t i = 0; i < keys.size(); ++i) EXPECT_EQ(index.find(keys[i]), i);
        for (int i = 0; i < 300; ++i) {
            const K key = any();
            EXPECT_EQ(index.find(key) != KeyIndex<K>::absent, chosen.contains(key));
        }
    }
}

TEST(MapTable, L8_2_keys_that_are_pairs) {
    MapTable<std::pair<uint32_t, uint16_t>, int> map;
    EXPECT_FALSE(map.get({1, 2}));
    map.replace({{{9, 1}, 91}, {{2, 7}, 27}, {{2, 3}, 23}});
    EXPECT_EQ(map.value(*map.get({9, 1})), 91);
    EXPECT_EQ(map.value(*map.get({2, 3})), 23);
    EXPECT_FALSE(map.get({2, 4}) || map.get({10, 0}));
    EXPECT_EQ(map.entries()[1].first.second, 7) << "in file order";
}

TEST(SetTable, L8_2_values_that_are_pairs) {
    SetTable<std::pair<uint32_t, uint16_t>> set;
    set.replace({{9, 1}, {2, 7}, {9, 1}});
    EXPECT_EQ(set.size(), 2u);
    EXPECT_TRUE(set.contains({2, 7}) && !set.contains({2, 8}));
}

}  // namespace
}  // namespace polysome
