// Section 11 of STATE.md: acl. The model is a search through all rows.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "nf/acl.hpp"

namespace polysome {
namespace {

const Matcher any;
Matcher exact(u128 number) { return {.kind = Matcher::Kind::exact, .low = number, .prefix = {}}; }
Matcher range(u128 low, u128 high) { return {.kind = Matcher::Kind::range, .low = low, .high = high, .prefix = {}}; }
Matcher prefix(Prefix prefix) { return {.kind = Matcher::Kind::prefix, .prefix = prefix}; }

using Rows = std::vector<AclRow<std::string>>;

std::string found(const Rows& rows, std::vector<u128> key, std::vector<uint8_t> widths) {
    Acl<std::string> acl;
    acl.replace(rows);
    const std::string* value = acl.get(key, widths);
    return value == nullptr ? "" : *value;
}

TEST(Acl, S11_1_allMatchersMatch) {
    const Rows rows = {{{prefix({0x0a000000, 32, 8}), any, exact(6), range(80, 90)}, 0, "web"}};
    const std::vector<uint8_t> widths = {32, 32, 8, 16};
    EXPECT_EQ(found(rows, {0x0a000001, 5, 6, 80}, widths), "web");
    EXPECT_EQ(found(rows, {0x0affffff, 9, 6, 90}, widths), "web");
    EXPECT_EQ(found(rows, {0x0b000001, 5, 6, 80}, widths), "");
    EXPECT_EQ(found(rows, {0x0a000001, 5, 17, 80}, widths), "");
    EXPECT_EQ(found(rows, {0x0a000001, 5, 6, 79}, widths), "");
    EXPECT_EQ(found(rows, {0x0a000001, 5, 6, 91}, widths), "");
    EXPECT_EQ(found(rows, {0x0a000001, 5, 6, 80}, {128, 32, 8, 16}), "");  // the other family
}

TEST(Acl, S11_2_firstMatchByPriorityThenFileOrder) {
    Rows rows = {{{range(0, 9)}, 0, "low"}, {{exact(5)}, 0, "five"}, {{any}, 7, "any"}, {{exact(5)}, 7, "first"}};
    EXPECT_EQ(found(rows, {5}, {8}), "any");
    std::swap(rows[2], rows[3]);
    EXPECT_EQ(found(rows, {5}, {8}), "first");
    rows.resize(2);
    EXPECT_EQ(found(rows, {5}, {8}), "low");
    EXPECT_EQ(found(rows, {10}, {8}), "");
    EXPECT_EQ(found({}, {5}, {8}), "");
    EXPECT_EQ(found({{{any}, -1, "below"}, {{any}, 0, "zero"}}, {5}, {8}), "zero");
}

TEST(Acl, S11_1_anEmptyRangeMatchesNothingAndTheHighestNumberBelongsToARange) {
    EXPECT_EQ(found({{{range(5, 4)}, 0, "none"}}, {5}, {8}), "");
    EXPECT_EQ(found({{{range(5, ~u128{0})}, 0, "all"}}, {~u128{0}}, {128}), "all");
    EXPECT_EQ(found({{{prefix({0, 128, 0})}, 0, "all"}}, {~u128{0}}, {128}), "all");
}

Matcher matcher(std::mt19937_64& random, unsigned width) {
    const u128 number = random() % 40;
    switch (random() % 5) {
        case 0:
            return any;
        case 1:
            return exact(number);
        case 2: {
            const auto bits = static_cast<uint8_t>(random() % 2 == 0 ? 32 : 128);
            const auto open = static_cast<uint8_t>(random() % 6);
            return prefix({number >> open << open, bits, static_cast<uint8_t>(bits - open)});
        }
        default:
            return range(number, number + random() % (width == 8 ? 3 : 30));
    }
}

TEST(Acl, S11_2_doesWhatASearchDoes) {
    std::mt19937_64 random(11);
    for (const size_t count : {1u, 5u, 63u, 64u, 65u, 300u, 5000u}) {  // the last: more than share bit vectors
        for (size_t components = 1; components <= 5; ++components) {
            std::vector<AclRow<size_t>> rows(count);
            std::vector<uint8_t> widths;
            for (size_t c = 0; c < components; ++c) widths.push_back(std::array<uint8_t, 3>{8, 32, 128}[random() % 3]);
            for (size_t i = 0; i < count; ++i) {
                rows[i].value = i;
                rows[i].priority = static_cast<int64_t>(random() % 3) - 1;
                for (size_t c = 0; c < components; ++c) rows[i].matchers.push_back(matcher(random, widths[c]));
                // Far down in a large table few rows match, so that the search has to go there.
                if (count > 300) rows[i].matchers[0] = exact(random() % 4000);
            }
            Acl<size_t> acl;
            acl.replace(rows);
            std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.priority > b.priority; });
            for (int look = 0; look < 300; ++look) {
                std::vector<u128> key;
                for (size_t c = 0; c < components; ++c) key.push_back(random() % (c == 0 && count > 300 ? 4000 : 60));
                const auto matches = [&](const AclRow<size_t>& row) {
                    for (size_t c = 0; c < components; ++c)
                        if (!row.matchers[c].matches(key[c], widths[c])) return false;
                    return true;
                };
                const auto best = std::find_if(rows.begin(), rows.end(), matches);
                const size_t* got = acl.get(key, widths);
                ASSERT_EQ(got == nullptr, best == rows.end());
                ASSERT_TRUE(got == nullptr || *got == best->value);
            }
        }
    }
}

TEST(Acl, RowsAreRead) {
    std::vector<uint8_t> bytes = {0, 0, 0, 1, 0, 1};  // one row: any, exact 5, range 6 to 7, 10.0.0.0/8; -1; 9
    const auto number = [&](uint8_t last, uint8_t fourth = 0) {
        bytes.insert(bytes.end(), 12, 0);
        bytes.insert(bytes.end(), {fourth, 0, 0, last});
    };
    number(5);
    bytes.push_back(2);
    number(6), number(7);
    bytes.insert(bytes.end(), {3, 32, 8});
    number(0, 10);
    bytes.insert(bytes.end(), 8, 0xff);
    bytes.push_back(9);
    Reader reader(bytes);
    std::vector<AclRow<uint8_t>> rows;
    read_rows(reader, 4, rows);
    ASSERT_TRUE(reader.done());
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].priority, -1);
    EXPECT_EQ(rows[0].value, 9);
    EXPECT_TRUE(rows[0].matchers[0].matches(1, 8));
    EXPECT_TRUE(rows[0].matchers[1].matches(5, 8) && !rows[0].matchers[1].matches(6, 8));
    EXPECT_TRUE(rows[0].matchers[2].matches(7, 8) && !rows[0].matchers[2].matches(8, 8));
    EXPECT_TRUE(rows[0].matchers[3].matches(0x0a000001, 32) && !rows[0].matchers[3].matches(0x0a000001, 128));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
        const std::span<const uint8_t> whole = bytes;
        Reader part(whole.first(cut));
        read_rows(part, 4, rows);
        EXPECT_FALSE(part.ok());
        EXPECT_TRUE(rows.empty());
    }
    bytes[4] = 4;  // no such kind
    Reader wrong(bytes);
    read_rows(wrong, 4, rows);
    EXPECT_FALSE(wrong.ok());
}

}  // namespace
}  // namespace polysome
