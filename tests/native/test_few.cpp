#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "nf/few.hpp"

using polysome::Few;

namespace {

TEST(Few, KeepsItsItemsWhenTheyMoveToTheHeap) {
    Few<int, 4> few;
    EXPECT_TRUE(few.empty());
    for (int i = 0; i < 100; ++i) {
        few.push_back(i);
        ASSERT_EQ(few.size(), static_cast<size_t>(i + 1));
        for (int k = 0; k <= i; ++k) ASSERT_EQ(few[static_cast<size_t>(k)], k);
    }
}

TEST(Few, AnItemOfItsOwnCanBeAppended) {
    Few<int, 2> few;
    few.push_back(7);
    for (int i = 0; i < 20; ++i) few.push_back(few[0]);
    for (const int item : few) EXPECT_EQ(item, 7);
}

TEST(Few, InsertsLikeAVector) {
    std::mt19937 random(1);
    Few<unsigned, 3> few;
    std::vector<unsigned> vector;
    for (unsigned i = 0; i < 60; ++i) {
        const size_t place = random() % (vector.size() + 1);
        few.insert(place, i);
        vector.insert(vector.begin() + static_cast<std::ptrdiff_t>(place), i);
        ASSERT_EQ(std::vector<unsigned>(few.begin(), few.end()), vector);
    }
}

}  // namespace
