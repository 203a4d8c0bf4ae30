// LANGUAGE.md L8.2 to L8.4: maps of the configuration.
#include <gtest/gtest.h>

#include <string>

#include "nf/map_table.hpp"

namespace polysome {
namespace {

using Map = MapTable<uint16_t, std::string>;

TEST(MapTable, L8_2_get) {
    Map map;
    EXPECT_FALSE(map.get(1));
    map.replace({{9, "nine"}, {2, "two"}});
    EXPECT_EQ(map.value(*map.get(2)), "two");
    EXPECT_EQ(map.value(*map.get(9)), "nine");
    EXPECT_FALSE(map.get(1) || map.get(3) || map.get(10));
    EXPECT_TRUE(map.contains(9) && !map.contains(8));
    ASSERT_EQ(map.size(), 2u);
    EXPECT_EQ(map.entries()[0].first, 9);
    EXPECT_EQ(map.entries()[1].second, *map.get(2));
}

TEST(MapTable, L8_4_aRowStaysIfItsKeyDoesWithItsNewValue) {
    Map map;
    map.replace({{1, "one"}, {2, "two"}});
    const Row one = *map.get(1), two = *map.get(2);
    map.replace({{3, "one"}, {2, "zwei"}});
    EXPECT_EQ(*map.get(2), two);
    EXPECT_EQ(map.value(two), "zwei");
    EXPECT_TRUE(map.live(two) && !map.live(one));
    EXPECT_EQ(map.value(one), "one");
    EXPECT_NE(*map.get(3), one);
}

TEST(MapTable, L8_4_aRowThatHasGoneNeverComesBack) {
    Map map;
    map.replace({{1, "one"}});
    const Row one = *map.get(1);
    map.replace({});
    map.replace({{1, "one"}});
    EXPECT_NE(*map.get(1), one);
    EXPECT_TRUE(map.live(*map.get(1)) && !map.live(one));
}

}  // namespace
}  // namespace polysome
