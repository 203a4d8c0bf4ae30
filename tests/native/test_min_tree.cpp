// The tournament below top_k. The model is a search through all ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "nf/min_tree.hpp"

namespace polysome {
namespace {

TEST(MinTree, TheLeastOfRisingRanks) {
    std::mt19937_64 random(6);
    for (const uint32_t size : {1u, 2u, 7u, 8u, 9u, 33u, 100u}) {
        MinTree tree;
        for (int round = 0; round < 3; ++round) {
            std::vector<u128> model;
            uint64_t number = 0;
            const auto rank = [&](u128 high) { return high << 64 | number++; };
            for (int i = 0; i < 500; ++i) {
                const bool more = model.size() < size && (model.empty() || random() % 2 == 0);
                const auto item = static_cast<uint32_t>(more           ? model.size()
                                                        : random() % 3 ? tree.least()
                                                                       : random() % model.size());
                if (more) {
                    model.push_back(rank(random() % 50));
                    tree.push(model.back());
                } else {
                    model[item] = rank((model[item] >> 64) + random() % 20);
                    tree.raise(item, model[item]);
                }
                const auto least = std::min_element(model.begin(), model.end()) - model.begin();
                ASSERT_EQ(tree.least(), least);
                ASSERT_TRUE(tree.rank(item) == model[item]);
                ASSERT_EQ(tree.size(), model.size());
            }
            tree.clear();
            EXPECT_EQ(tree.size(), 0u);
        }
    }
}

TEST(MinTree, TheHighestRanks) {
    MinTree tree;
    const u128 high = ~u128{0} - 2;
    tree.push(high + 1);
    EXPECT_EQ(tree.least(), 0u);
    tree.push(high);
    EXPECT_EQ(tree.least(), 1u);
}

}  // namespace
}  // namespace polysome
