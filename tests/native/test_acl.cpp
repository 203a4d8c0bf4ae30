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

template <class V, size_t Components>
const V* get_of(const Acl<V>& acl, const std::vector<u128>& key, const std::vector<uint8_t>& widths) {
    u128 components[Components];
    uint8_t bits[Components];
    std::copy_n(key.begin(), Components, components);
    std::copy_n(widths.begin(), Components, bits);
    return acl.get(components, bits);
}

/// The same for keys of 1 to 11 components.
template <class V>
const V* get(const Acl<V>& acl, const std::vector<u128>& key, const std::vector<uint8_t>& widths) {
    const auto any_of = [&]<size_t... I>(std::index_sequence<I...>) {
        const V* found = nullptr;
        ((key.size() == I + 1 ? void(found = get_of<V, I + 1>(acl, key, widths)) : void()), ...);
        return found;
    };
    return any_of(std::make_index_sequence<11>());
}

std::string found(const Rows& rows, std::vector<u128> key, std::vector<uint8_t> widths) {
    Acl<std::string> acl;
    acl.replace(rows);
    const std::string* value = get(acl, key, widths);
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
    EXPECT_EQ(found(rows, {0x0a000001, 5, 6, 80}, {128, 32, 8, 16}),
              "");  // the other family
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

/// Looks every key up in the table and in the rows, one after the other.
void compare(std::vector<AclRow<size_t>> rows, const std::vector<std::vector<u128>>& keys,
             const std::vector<uint8_t>& widths) {
    Acl<size_t> acl;
    acl.replace(rows);
    std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.priority > b.priority; });
    for (const auto& key : keys) {
        const auto matches = [&](const AclRow<size_t>& row) {
            for (size_t c = 0; c < key.size(); ++c)
                if (!row.matchers[c].matches(key[c], widths[c])) return false;
            return true;
        };
        const auto best = std::find_if(rows.begin(), rows.end(), matches);
        const size_t* got = get(acl, key, widths);
        ASSERT_EQ(got == nullptr, best == rows.end());
        ASSERT_TRUE(got == nullptr || *got == best->value);
    }
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
            std::vector<std::vector<u128>> keys(300);
            for (auto& key : keys)
                for (size_t c = 0; c < components; ++c) key.push_back(random() % (c == 0 && count > 300 ? 4000 : 60));
            compare(rows, keys, widths);
        }
    }
}

constexpr u128 mapped = u128{0xffff} << 32;  // ::ffff:0.0.0.0

TEST(Acl, S11_1_prefixesOfEveryLengthAlsoIPv4Mapped) {
    std::mt19937_64 random(12);
    const auto address = [&]() -> u128 {
        const u128 six = static_cast<u128>(0x20010db8'00000000 | random() % 4) << 64 | random();
        return random() % 3 == 0 ? six : mapped | static_cast<uint32_t>(random() % 2 == 0 ? random() % 512 : random());
    };
    for (const uint8_t bits : {uint8_t{32}, uint8_t{128}}) {
        std::vector<AclRow<size_t>> rows;
        std::vector<std::vector<u128>> keys;
        for (unsigned length = 0; length <= bits; ++length) {
            for (int i = 0; i < 4; ++i) {
                const auto network = [&](unsigned kept) {
                    const u128 value = bits == 32 ? static_cast<uint32_t>(address()) : address();
                    const unsigned open = bits - kept;
                    return prefix({open == 128 ? 0 : value >> open << open, bits, static_cast<uint8_t>(kept)});
                };
                rows.push_back({{network(length), network(static_cast<unsigned>(random() % 20)), any}, 0, rows.size()});
                rows.back().priority = static_cast<int64_t>(length);  // the longest wins
                const uint16_t low = static_cast<uint16_t>(random());
                if (i % 2 == 0) rows.back().matchers[2] = range(low, low + random() % 30'000);
                const Prefix& source = rows.back().matchers[0].prefix;
                for (const u128 near : {source.value, source.value - 1, source.value + 1, address()})
                    for (int port = 0; port < 4; ++port)
                        keys.push_back({bits == 32 ? static_cast<uint32_t>(near) : near,
                                        bits == 32 ? static_cast<uint32_t>(address()) : address(), random() % 65536});
            }
        }
        compare(rows, keys, {bits, bits, 16});
        compare(rows, keys, {128, 128, 16});  // of another family, if bits is 32
    }
}

TEST(Acl, S11_2_portsAsAccessListsHaveThem) {
    std::mt19937_64 random(13);
    for (const size_t count : {20u, 700u, 1600u, 3000u}) {
        std::vector<AclRow<size_t>> rows;
        std::vector<std::vector<u128>> keys;
        const auto ports = [&]() -> Matcher {
            switch (random() % 5) {
                case 0:
                    return any;
                case 1:
                    return range(1024, 65535);
                case 2:
                    return range(0, 1023);
                case 3:
                    return range(16'380 + random() % 9, 16'380 + random() % 20);
                default:
                    return exact(random() % 400);
            }
        };
        for (size_t i = 0; i < count; ++i) {
            const auto open = static_cast<unsigned>(random() % 12);
            const u128 network = mapped | (0x0a000000u + random() % 4096) >> open << open;
            const Matcher source = prefix({network, 128, static_cast<uint8_t>(128 - open)});
            rows.push_back(
                {{source, random() % 3 ? any : source, random() % 2 ? exact(6) : any, ports(), ports()}, 0, i});
            keys.push_back({mapped | (0x0a000000u + random() % 4096), network, random() % 3 + 5, random() % 400,
                            random() % 2 ? random() % 65536 : 16'370 + random() % 30});
        }
        compare(rows, keys, {128, 128, 8, 16, 16});
    }
}

TEST(Acl, S11_2_manyComponentsOfManyClasses) {
    std::mt19937_64 random(14);
    constexpr size_t components = 11;
    std::vector<AclRow<size_t>> rows(600);
    std::vector<std::vector<u128>> keys(2000, std::vector<u128>(components));
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].value = i;
        for (size_t c = 0; c < components; ++c) {
            const u128 low = static_cast<u128>(random()) << 48;
            rows[i].matchers.push_back(random() % 4 == 0 ? any : range(low, low + (u128{random()} << 47)));
        }
    }
    for (auto& key : keys) {
        const auto& row = rows[random() % rows.size()];
        for (size_t c = 0; c < components; ++c) key[c] = row.matchers[c].low + random();
    }
    compare(rows, keys, std::vector<uint8_t>(components, 128));
}

TEST(Acl, ARowIsReplaced) {
    Acl<int> acl;
    const std::vector<uint8_t> widths = {8};
    const std::vector<u128> five = {5};
    EXPECT_EQ(get(acl, five, widths), nullptr);
    acl.replace({{{exact(5)}, 0, 1}});
    EXPECT_EQ(*get(acl, five, widths), 1);
    acl.replace({{{exact(5)}, 0, 2}, {{any}, 0, 3}});
    EXPECT_EQ(*get(acl, five, widths), 2);
    acl.replace({});
    EXPECT_EQ(get(acl, five, widths), nullptr);
    EXPECT_EQ(acl.size(), 0u);
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
