// LANGUAGE.md L8.2 to L8.4: lists of the configuration.
#include <gtest/gtest.h>

#include <string>

#include "nf/list_table.hpp"

namespace polysome {
namespace {

using List = ListTable<std::string>;

std::vector<std::string> values(const List& list) {
    std::vector<std::string> found;
    for (const Row row : list) found.push_back(list.value(row));
    return found;
}

TEST(ListTable, L8_2_rowsInFileOrder) {
    List list;
    EXPECT_EQ(list.size(), 0u);
    list.replace({"b", "a"});
    EXPECT_EQ(values(list), (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(list.value(list.at(1)), "a");
    EXPECT_TRUE(list.contains("a") && !list.contains("c"));
}

TEST(ListTable, L8_4_equalRowsAreOneRow) {
    List list;
    list.replace({"a", "b", "a"});
    EXPECT_EQ(list.size(), 3u);
    EXPECT_EQ(list.at(0), list.at(2));
    EXPECT_NE(list.at(0), list.at(1));
}

TEST(ListTable, L8_4_aRowStaysIfAnEqualOneIsInTheNewList) {
    List list;
    list.replace({"a", "b"});
    const Row a = list.at(0), b = list.at(1);
    list.replace({"c", "b"});
    EXPECT_EQ(list.at(1), b);
    EXPECT_TRUE(list.live(b) && !list.live(a));
    EXPECT_EQ(list.value(a), "a");  // for `on end`
    EXPECT_FALSE(list.contains("a"));
}

TEST(ListTable, L8_4_aRowThatHasGoneNeverComesBack) {
    List list;
    list.replace({"a"});
    const Row a = list.at(0);
    list.replace({});
    list.replace({"a"});
    EXPECT_NE(list.at(0), a);
    EXPECT_FALSE(list.live(a));
    EXPECT_FALSE(list.live(Row{}));
}

}  // namespace
}  // namespace polysome
