// Section 12 of STATE.md: maglev. The vectors are those of the paper, table 1, and by hand.
#include <gtest/gtest.h>

#include <map>

#include "nf/maglev.hpp"
#include "nf/siphash.hpp"

namespace polysome {
namespace {

// (offset, skip) = (3, 4), (0, 2), (3, 1): the lower half mod 6, plus 1.
constexpr uint64_t B0 = uint64_t{3} << 32 | 3, B1 = 1, B2 = uint64_t{3} << 32;
using Table = Maglev<uint64_t>;
using Rows = std::vector<std::pair<uint64_t, uint64_t>>;

uint64_t itself(uint64_t row) { return row; }
uint64_t hashed(uint64_t row) { return siphash(7, reinterpret_cast<const uint8_t*>(&row), 8); }

std::vector<uint64_t> places(const Table& table, uint64_t size) {
    std::vector<uint64_t> found;
    for (uint64_t h = 0; h < size; ++h) found.push_back(table.value(*table.at(h)));
    return found;
}

std::vector<uint64_t> paper(const Rows& rows) {
    Table table;
    EXPECT_TRUE(table.replace(rows, itself, 7));
    return places(table, 7);
}

TEST(Maglev, S12_2_thePopulationOfThePaper) {
    EXPECT_EQ(paper({{B0, 1}, {B1, 1}, {B2, 1}}), (std::vector<uint64_t>{B1, B0, B1, B0, B2, B2, B0}));
    EXPECT_EQ(paper({{B0, 1}, {B2, 1}}), (std::vector<uint64_t>{B0, B0, B0, B0, B2, B2, B2}));
}

TEST(Maglev, S12_3_weightsAreTurns) {
    EXPECT_EQ(paper({{B0, 2}, {B1, 0}, {B2, 1}}), (std::vector<uint64_t>{B0, B0, B0, B0, B2, B0, B2}));
}

TEST(Maglev, S12_4_lookup) {
    Table table;
    EXPECT_FALSE(table.at(1));
    ASSERT_TRUE(table.replace({{B0, 1}, {B1, 1}, {B2, 1}}, itself, 7));
    EXPECT_EQ(table.value(*table.at(7'000'000'004)), B2);
    ASSERT_TRUE(table.replace({{B0, 0}}, itself, 7));
    EXPECT_FALSE(table.at(1));
    EXPECT_EQ(table.size(), 1u);
}

TEST(Maglev, S12_5_errors) {
    Table table;
    ASSERT_TRUE(table.replace({{B1, 1}}, itself, 7));
    EXPECT_FALSE(table.replace({{B0, 1}}, itself, 9));
    EXPECT_FALSE(table.replace({{B0, 1}}, itself, 1));
    EXPECT_FALSE(table.replace({{B0, 4}, {B1, 4}}, itself, 7));
    EXPECT_FALSE(table.replace({{B0, NEVER}, {B1, 4}}, itself, 7));
    EXPECT_EQ(places(table, 7), std::vector<uint64_t>(7, B1));
    EXPECT_TRUE(table.replace({{B0, 1}}, itself, 2));
}

TEST(Maglev, S12_5_whatIsAcceptableIsKnownBefore) {
    EXPECT_TRUE(Table::acceptable({}, 7));
    EXPECT_TRUE(Table::acceptable({{B0, 4}, {B1, 3}}, 7));
    EXPECT_FALSE(Table::acceptable({{B0, 4}, {B1, 4}}, 7));
    EXPECT_FALSE(Table::acceptable({{B0, NEVER}, {B1, 8}}, 7));
    for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{9}, uint64_t{4294967311}})
        EXPECT_FALSE(Table::acceptable({}, size));
}

TEST(Maglev, S12_6_sharesAreEven) {
    Rows rows;
    for (uint64_t row = 0; row < 10; ++row) rows.emplace_back(row, 1 + row % 3);
    Table table;
    ASSERT_TRUE(table.replace(rows, hashed, 65537));
    std::map<uint64_t, uint64_t> owned;
    for (const uint64_t row : places(table, 65537)) ++owned[row];
    const uint64_t rounds = 65537 / 19;
    for (const auto& [row, weight] : rows) {
        EXPECT_GE(owned[row], rounds * weight);
        EXPECT_LE(owned[row], (rounds + 1) * weight);
    }
}

TEST(Maglev, S12_6_littleMovesWhenARowLeaves) {
    Table table;
    Rows rows;
    for (uint64_t row = 0; row < 8; ++row) rows.emplace_back(row, 1);
    ASSERT_TRUE(table.replace(rows, hashed, 2003));
    const auto before = places(table, 2003);
    rows.erase(rows.begin() + 3);
    ASSERT_TRUE(table.replace(rows, hashed, 2003));
    const auto after = places(table, 2003);
    size_t moved = 0;
    for (size_t i = 0; i < 2003; ++i) moved += before[i] != 3 && before[i] != after[i];
    EXPECT_LT(moved, 300u);
}

TEST(Maglev, L8_4_rowsKeepTheirIdentity) {
    Table table;
    ASSERT_TRUE(table.replace({{B0, 1}, {B1, 1}}, itself, 7));
    const Row b0 = *table.at(1), b1 = *table.at(0);
    ASSERT_TRUE(table.replace({{B2, 1}, {B1, 3}}, itself, 7));
    EXPECT_TRUE(table.live(b1) && !table.live(b0));
    EXPECT_EQ(*table.at(0), b1);
    EXPECT_EQ(table.value(b0), B0);
}

}  // namespace
}  // namespace polysome
