// LANGUAGE.md L8.1: sets of the configuration.
#include <gtest/gtest.h>

#include "nf/set_table.hpp"

namespace polysome {
namespace {

TEST(SetTable, L8_1_valuesCountOnceAndAscend) {
    SetTable<uint32_t> set;
    EXPECT_FALSE(set.contains(0));
    set.replace({7, 3, 7, 9});
    EXPECT_EQ(set.size(), 3u);
    EXPECT_EQ(std::vector<uint32_t>(set.begin(), set.end()), (std::vector<uint32_t>{3, 7, 9}));
    for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(set.contains(i), i == 3 || i == 7 || i == 9);
    set.replace({});
    EXPECT_FALSE(set.contains(7));
}

}  // namespace
}  // namespace polysome
