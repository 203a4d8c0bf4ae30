// Section 10 of STATE.md: lpm. The model is a search through all prefixes.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "nf/lpm.hpp"

namespace polysome {
namespace {

Prefix net(uint32_t a, uint32_t b, uint8_t length) { return {a << 24 | b << 16, 32, length}; }
constexpr u128 doc = u128{0x20010db8} << 96;

std::vector<std::pair<Prefix, std::string>> rows() {
    return {{net(10, 0, 8), "ten"}, {net(10, 1, 16), "ten one"}, {{doc, 128, 32}, "doc"}};
}

std::string found(const Lpm<std::string>& table, u128 address, unsigned bits) {
    const std::string* value = table.get(address, bits);
    return value == nullptr ? "" : *value;
}

TEST(Lpm, S10_1_theLongestPrefixWins) {
    Lpm<std::string> table;
    EXPECT_EQ(found(table, 0x0a010203, 32), "");
    ASSERT_TRUE(table.replace(rows()));
    EXPECT_EQ(found(table, 0x0a010203, 32), "ten one");
    EXPECT_EQ(found(table, 0x0a020203, 32), "ten");
    EXPECT_EQ(found(table, 0x0a00ffff, 32), "ten");
    EXPECT_EQ(found(table, 0x0b010203, 32), "");
    auto more = rows();
    more.insert(more.begin(), {net(10, 1, 32), "host"});
    ASSERT_TRUE(table.replace(more));
    EXPECT_EQ(found(table, 0x0a010000, 32), "host");
    EXPECT_EQ(found(table, 0x0a010001, 32), "ten one");
}

TEST(Lpm, S10_2_familiesAreApart) {
    Lpm<std::string> table;
    auto more = rows();
    more.push_back({{0, 32, 0}, "any4"});
    ASSERT_TRUE(table.replace(more));
    EXPECT_EQ(found(table, doc | 1, 128), "doc");
    EXPECT_EQ(found(table, 0x0a010203, 128), "");
    EXPECT_EQ(found(table, 0x0b010203, 32), "any4");
    EXPECT_EQ(found(table, 0xffffffff, 32), "any4");
    EXPECT_EQ(found(table, 1, 128), "");
    EXPECT_EQ(found(table, 1, 64), "");
}

TEST(Lpm, S10_3_aPrefixTwiceIsRefused) {
    Lpm<std::string> table;
    ASSERT_TRUE(table.replace(rows()));
    auto more = rows();
    more.push_back({net(10, 1, 16), "again"});
    EXPECT_FALSE(Lpm<std::string>::acceptable(more));
    EXPECT_FALSE(table.replace(more));
    EXPECT_EQ(found(table, 0x0a010203, 32), "ten one");
    more.back().first.length = 17;
    EXPECT_TRUE(Lpm<std::string>::acceptable(more));
    EXPECT_TRUE(table.replace(more));
    EXPECT_EQ(found(table, 0x0a010203, 32), "again");
    ASSERT_TRUE(table.replace({}));
    EXPECT_EQ(found(table, 0x0a010203, 32), "");
    EXPECT_EQ(found(table, doc, 128), "");
}

/// Addresses that share many bits, so that prefixes nest and neighbour.
u128 address(std::mt19937_64& random, unsigned bits) {
    u128 found = 0;
    for (int i = 0; i < 3; ++i) found ^= u128{1} << random() % bits;
    if (random() % 2 == 0) found = ~found;
    if (random() % 3 == 0) found ^= random();
    return bits == 128 ? found : static_cast<uint32_t>(found);
}

TEST(Lpm, S10_1_doesWhatASearchDoes) {
    std::mt19937_64 random(10);
    for (const size_t count : {0u, 1u, 2u, 10u, 100u, 600u}) {
        for (int round = 0; round < 8; ++round) {
            std::map<Prefix, size_t> unique;
            while (unique.size() < count) {
                const auto bits = static_cast<uint8_t>(random() % 2 == 0 ? 32 : 128);
                const auto length = static_cast<uint8_t>(random() % (bits + 1u));
                u128 value = address(random, bits);
                value = length == 0 ? 0 : value >> (bits - length) << (bits - length);
                unique.emplace(Prefix{value, bits, length}, unique.size());
            }
            const std::vector<std::pair<Prefix, size_t>> rows(unique.begin(), unique.end());
            Lpm<size_t> table;
            ASSERT_TRUE(table.replace(rows));
            for (int look = 0; look < 400; ++look) {
                const unsigned bits = random() % 2 == 0 ? 32 : 128;
                u128 asked = address(random, bits);
                if (!rows.empty() && look % 2 == 0) {  // at and beside the ends of a prefix
                    const Prefix& near = rows[random() % rows.size()].first;
                    if (near.bits == bits) asked = near.value + random() % 3 - 1;
                    if (bits == 32) asked = static_cast<uint32_t>(asked);
                }
                const std::pair<Prefix, size_t>* best = nullptr;
                for (const auto& row : rows)
                    if (row.first.contains(asked, bits) && (best == nullptr || row.first.length > best->first.length))
                        best = &row;
                const size_t* got = table.get(asked, bits);
                ASSERT_EQ(got == nullptr, best == nullptr);
                ASSERT_TRUE(got == nullptr || *got == best->second);
            }
        }
    }
}

}  // namespace
}  // namespace polysome
