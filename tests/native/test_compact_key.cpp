#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "flow_map_spec.hpp"

namespace polysome::test {
namespace {

using Words = std::array<uint64_t, 5>;
/// As generated code has it for source, destination, ports and protocol.
using Flow = CompactKey<5, KeyPart{0, 0, 0, 32, 61}, KeyPart{2, 0, 32, 32, 60}, KeyPart{4, 1, 0, 40}>;

constexpr uint64_t mapped = uint64_t{0xffff} << 32;

/// Addresses on both sides of each condition: mapped, zero, and each of these but for one bit.
std::vector<std::array<uint64_t, 2>> addresses() {
    std::vector<std::array<uint64_t, 2>> all{{0, 0},
                                             {0, mapped},
                                             {0, mapped | 0xffffffff},
                                             {0, 1},
                                             {1, 0},
                                             {0, uint64_t{1} << 32},
                                             {~uint64_t{0}, ~uint64_t{0}}};
    for (unsigned bit = 0; bit < 64; ++bit) {
        all.push_back({uint64_t{1} << bit, mapped | 7});
        all.push_back({0, (mapped | 7) ^ uint64_t{1} << bit});
    }
    return all;
}

bool is_short(const std::array<uint64_t, 2>& a) {
    return (a[0] == 0 && a[1] >> 32 == 0xffff) || (a[0] == 0 && a[1] == 0);
}

TEST(CompactKey, comes_back_as_it_was_and_is_long_only_if_an_address_needs_it) {
    for (const auto& src : addresses()) {
        for (const auto& dst : addresses()) {
            for (const uint64_t rest : {uint64_t{0}, (uint64_t{1} << 40) - 1, uint64_t{0x0601bb04d2}}) {
                const Words words{src[0], src[1], dst[0], dst[1], rest};
                const Flow key(words);
                ASSERT_EQ(key.words(), words);
                ASSERT_EQ(key.is_long(), !is_short(src) || !is_short(dst));
                ASSERT_EQ(Flow(key.near, key.is_long() ? key.far : Words{9, 9, 9, 9, 9}).words(), words);
            }
        }
    }
}

TEST(CompactKey, differs_wherever_the_words_do) {
    std::map<std::array<uint64_t, 2>, Words> seen;
    for (const auto& src : addresses()) {
        for (const auto& dst : addresses()) {
            const Words words{src[0], src[1], dst[0], dst[1], 5};
            const Flow key(words);
            if (key.is_long()) continue;
            ASSERT_TRUE(seen.emplace(key.near, words).second) << "two short keys have the same near words";
        }
    }
    const Flow one(Words{1, 2, 0, mapped, 5}), other(Words{3, 2, 0, mapped, 5}), again(Words{1, 2, 0, mapped, 5});
    EXPECT_EQ(one.near, other.near);  // only the far words tell them apart
    EXPECT_FALSE(one == other);
    EXPECT_TRUE(one == again);
    EXPECT_FALSE(one == Flow(Words{0, mapped | 2, 0, mapped, 5}));
}

/// A map by such a key that keeps a number, with an index by the same addresses and that number.
struct ByFlow {
    using Words = Flow;
    using Value = uint64_t;
    using Indexes = std::tuple<Flow>;
    static constexpr bool has_idle = true, has_age = false, idle_varies = true, age_varies = false, steady = true;
    static constexpr bool has_alive = false, has_owned = false, has_on_end = false;
    static constexpr WhenFull when_full = WhenFull::evict;
    static constexpr uint64_t idle_max = 7, age_max = 0;

    uint64_t idle(const Flow& key, const uint64_t&) const { return key.words()[4] % 7 + 1; }
    template <size_t I>
    Flow index_words(const Flow& key, const uint64_t& value) const {
        auto words = key.words();
        words[4] = value;
        return words;
    }
};

TEST(CompactKey, nothing_is_found_where_an_entry_was_expected_that_has_ended_or_never_was) {
    Clock clock{100};
    FlowMap<ByFlow> map(ByFlow{}, clock, 10, 7, false);
    for (const Words& words : {Words{0, mapped, 0, mapped, 0}, Words{0, 0, 0, 0, 0}, Words{1, 0, 0, 0, 0}}) {
        auto key = map.sought(words);
        auto in_index = map.index_sought<0>(Words{words[0], words[1], words[2], words[3], 1});
        for (uint32_t at = 0; at < 14; ++at) {  // zeros are no key
            key.at = in_index.at = at;
            EXPECT_EQ(map.find(key), map.absent);
            EXPECT_EQ(map.find_index<0>(in_index), map.absent);
        }
        map.put(key, 1);
        map.expect(key);
        map.index_expect<0>(in_index);
        EXPECT_NE(map.find(key), map.absent);
        EXPECT_EQ(map.find_index<0>(in_index), map.find(key));
        map.remove(key);
        EXPECT_EQ(map.find(key), map.absent);
        EXPECT_EQ(map.find_index<0>(in_index), map.absent);
    }
}

/// A map by a number of less than 64 bits.
struct ByNumber {
    using Words = NarrowKey<1>;
    using Value = uint64_t;
    using Indexes = std::tuple<>;
    static constexpr bool has_idle = false, has_age = false, idle_varies = false, age_varies = false, steady = true;
    static constexpr bool has_alive = false, has_owned = false, has_on_end = false;
    static constexpr WhenFull when_full = WhenFull::drop;
    static constexpr uint64_t idle_max = 0, age_max = 0;
};

TEST(NarrowKey, comes_back_as_it_was_and_is_gone_when_its_entry_is) {
    Clock clock{100};
    FlowMap<ByNumber> map(ByNumber{}, clock, 2000, 7, false);
    const auto number = [](uint64_t i) { return NarrowKey<1>(std::array{i % 2 == 0 ? i : (uint64_t{1} << 63) - i}); };
    for (uint64_t round = 0; round < 20; ++round) {
        for (uint64_t i = 0; i < 2000; ++i) {
            auto key = map.sought(number(i));
            for (const uint32_t at : {0u, 1u}) {
                key.at = at;
                ASSERT_EQ(map.find(key), map.absent);
            }
            ASSERT_EQ(map.put(key, i + round).what, Put::stored);
            ASSERT_EQ(map.key(map.find(key)), number(i));
        }
        ASSERT_EQ(map.put(map.sought(number(2000)), 1).what, Put::full);
        for (uint64_t i = 0; i < 2000; ++i) {
            ASSERT_EQ(map.value(map.find(map.sought(number(i)))), i + round);
            map.remove(map.sought(number(i)));
        }
        ASSERT_EQ(map.size(), 0u);
    }
}

/// A flow must not wait until the pages of long keys are zeroed, and they must not be taken before there is one.
TEST(CompactKey, far_words_take_small_pages_when_they_are_written) {
    struct Open : FlowEntries<ByFlow> {
        Open() : FlowEntries(uint64_t{1} << 20) {}
        size_t given() {
            std::vector<unsigned char> there(far_.bytes() / 4096);
            EXPECT_EQ(mincore(far_.data(), there.size() * 4096, there.data()), 0);
            return static_cast<size_t>(std::count_if(there.begin(), there.end(), [](auto c) { return (c & 1) != 0; }));
        }
        using FlowEntries::set_key;
    };
    Pages::at_once = true;
    Open entries;
    Pages::at_once = false;
    EXPECT_EQ(entries.given(), 0u);
    entries.set_key(1000, Words{0, mapped, 0, mapped, 1});
    EXPECT_EQ(entries.given(), 0u);
    entries.set_key(1000, Words{1, 2, 3, 4, 5});
    EXPECT_EQ(entries.given(), 1u);
    EXPECT_EQ(entries.key(1000).words(), (Words{1, 2, 3, 4, 5}));
}

/// Whether all hashes are one: then keys alone tell entries apart.
class CompactKeys : public testing::TestWithParam<bool> {};

/// What a map does with short and long keys is what one by all the words would do.
TEST_P(CompactKeys, a_map_tells_all_keys_apart) {
    struct Held {
        uint64_t value, used;
    };
    Clock clock{100};
    FlowMap<ByFlow> map(ByFlow{}, clock, 1000, 7, GetParam());
    std::map<Words, Held> model;
    std::mt19937_64 random(3);
    const std::vector<std::array<uint64_t, 2>> some{{0, 0}, {0, mapped | 1}, {1, mapped | 1}, {0, 1}, {2, 1}};
    for (unsigned step = 0; step < 20'000; ++step) {
        if (random() % 8 == 0) {
            const uint64_t to = clock.now + random() % 3;
            for (uint64_t due; (due = map.next_due(to)) != NEVER;) {
                clock.now = due;
                map.expire_one();
            }
            clock.now = to;
            std::erase_if(model, [&](const auto& e) { return clock.now - e.second.used >= e.first[4] % 7 + 1; });
        }
        const auto& src = some[random() % some.size()];
        const auto& dst = some[random() % some.size()];
        const Words words{src[0], src[1], dst[0], dst[1], random() % 4};
        auto sought = map.sought(words);
        if (random() % 2 == 0) map.expect(sought);
        const auto held = model.find(words);
        const auto n = map.find(sought);
        ASSERT_EQ(n != map.absent, held != model.end());
        if (n != map.absent) {
            ASSERT_EQ(map.value(n), held->second.value);
            ASSERT_EQ(map.key(n).words(), words);
            auto in_index = map.index_sought<0>(Words{src[0], src[1], dst[0], dst[1], held->second.value});
            if (random() % 2 == 0) map.index_expect<0>(in_index);
            ASSERT_EQ(map.find_index<0>(in_index), n);
        }
        switch (random() % 3) {
            case 0:
                if (n == map.absent) break;
                map.use(n);
                held->second.used = clock.now;
                break;
            case 1:
                ASSERT_EQ(map.put(sought, step).what, Put::stored);  // no two have one number, so no index is taken
                model[words] = {step, clock.now};
                break;
            default:
                if (random() % 4 != 0) break;
                ASSERT_EQ(map.remove(sought).what, Put::stored);
                model.erase(words);
        }
        ASSERT_EQ(map.size(), model.size());
    }
    // Another process goes on with it.
    Saver saver;
    saver(map);
    const auto bytes = saver.take();
    FlowMap<ByFlow> next(ByFlow{}, clock, 2000, 8, GetParam());
    Loader loader(bytes);
    loader(next);
    ASSERT_TRUE(loader.done());
    ASSERT_GT(next.size(), 3u);
    for (const auto& [words, held] : model) {
        const auto n = next.find(next.sought(words));
        ASSERT_NE(n, next.absent);
        ASSERT_EQ(next.value(n), held.value);
    }
}
INSTANTIATE_TEST_SUITE_P(Hashes, CompactKeys, testing::Bool());

}  // namespace
}  // namespace polysome::test
