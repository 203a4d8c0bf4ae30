// Section 9 of STATE.md: top_k. Vectors are computed by hand; the model is a list.
#include <gtest/gtest.h>

#include <random>
#include <string_view>

#include "nf/top_k.hpp"

namespace polysome {
namespace {

using Key = std::array<uint64_t, 1>;
using Items = std::vector<std::pair<Key, uint64_t>>;
constexpr uint64_t most = ~uint64_t{0};

Key key(char c) { return {static_cast<uint64_t>(c)}; }

struct Top : TopK<Key> {
    using TopK::TopK;
    void add(const Key& key, uint64_t n = 1) { TopK::add(sought(key), n); }
    uint64_t estimate(const Key& key) const { return TopK::estimate(sought(key)); }
};

struct Filled : Top {
    Filled(std::string_view keys, uint64_t k, uint64_t counters) : Top(k, counters) {
        for (const char c : keys) add(key(c));
    }
};

TEST(TopK, S9_2_add) {
    Filled top("aab", 2, 2);
    EXPECT_EQ(top.items(), (Items{{key('a'), 2}, {key('b'), 1}}));
    top.add(key('c'), 5);
    EXPECT_EQ(top.items(), (Items{{key('c'), 6}, {key('a'), 2}}));
    top.add(key('z'), 0);
    EXPECT_EQ(top.items(), (Items{{key('c'), 6}, {key('a'), 2}}));
    top.add(key('a'), most - 1);
    EXPECT_EQ(top.items(), (Items{{key('a'), most}, {key('c'), 6}}));
}

TEST(TopK, S9_3_ofSeveralLeastTheOldestGoes) {
    Filled top("aabc", 2, 2);
    EXPECT_EQ(top.items(), (Items{{key('a'), 2}, {key('c'), 2}}));
    top.add(key('b'));
    EXPECT_EQ(top.items(), (Items{{key('b'), 3}, {key('c'), 2}}));
}

TEST(TopK, S9_4_itemsAreByCountThenByAge) {
    EXPECT_EQ(Filled("bacca", 3, 3).items(), (Items{{key('a'), 2}, {key('c'), 2}, {key('b'), 1}}));
    EXPECT_EQ(Filled("bacca", 1, 3).items(), (Items{{key('a'), 2}}));
}

TEST(TopK, S9_5_estimate) {
    Filled top("aa", 2, 2);
    EXPECT_EQ(top.estimate(key('a')), 2u);
    EXPECT_EQ(top.estimate(key('z')), 0u);
    top.add(key('b'));
    EXPECT_EQ(top.estimate(key('z')), 1u);
}

TEST(TopK, S9_6_clear) {
    Filled top("aab", 2, 2);
    top.clear();
    EXPECT_TRUE(top.items().empty());
    EXPECT_EQ(top.estimate(key('a')), 0u);
    top.add(key('b'));
    EXPECT_EQ(top.items(), (Items{{key('b'), 1}}));
}

/// Counters in the order in which their keys took them.
struct Model {
    uint64_t counters;
    Items items = {};

    void add(const Key& key, uint64_t n) {
        if (n == 0) return;
        const auto same = [&](const auto& item) { return item.first == key; };
        auto found = std::find_if(items.begin(), items.end(), same);
        if (found == items.end()) {
            uint64_t count = 0;
            if (items.size() == counters) {
                const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
                const auto least = std::min_element(items.begin(), items.end(), less);
                count = least->second;
                items.erase(least);
            }
            items.emplace_back(key, count);
            found = items.end() - 1;
        }
        found->second = n > most - found->second ? most : found->second + n;
    }

    Items shown(uint64_t k) const {
        Items sorted = items;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        if (sorted.size() > k) sorted.resize(k);
        return sorted;
    }
};

TEST(TopK, S9_2_doesWhatAListDoes) {
    std::mt19937_64 random(9);
    for (const uint64_t counters : {1u, 2u, 3u, 8u, 9u, 40u}) {
        for (const uint64_t keys : {3u, 12u, 100u}) {
            Top top(counters, counters, /*seed=*/random());
            Model model{counters};
            for (int i = 0; i < 600; ++i) {
                if (i == 250) top.clear(), model.items.clear();
                const Key added = {random() % keys * 0x100000001};
                const uint64_t n = random() % 50 == 0 ? most / 4 : random() % 4;
                top.add(added, n);
                model.add(added, n);
                const auto shown = top.items();
                ASSERT_EQ(shown, model.shown(counters));
                for (const auto& [key, count] : shown) ASSERT_EQ(top.estimate(key), count);
            }
        }
    }
}

}  // namespace
}  // namespace polysome
