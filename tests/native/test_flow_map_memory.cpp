/// What lies below the native map: its tables and its wheel, while entries come and go.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>

#include "flow_map_spec.hpp"

namespace polysome::test {
namespace {

constexpr auto drop_ = WhenFull::drop, evict = WhenFull::evict;

/// How many of an array's pages the system has given.
size_t given(MappedArray<uint64_t>& array) {
    constexpr size_t page = 4096;
    const auto start = reinterpret_cast<uintptr_t>(array.data()) / page * page;
    std::vector<unsigned char> there(array.bytes() / page);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(start), there.size() * page, there.data()), 0);
    return static_cast<size_t>(std::count_if(there.begin(), there.end(), [](unsigned char c) { return c & 1; }));
}

TEST(MappedArray, has_its_pages_at_once_if_packets_wait) {
    constexpr size_t numbers = size_t{1} << 20, pages = numbers * sizeof(uint64_t) / 4096;
    MappedArray<uint64_t> later(numbers);
    EXPECT_EQ(given(later), 0u);
    Pages::at_once = true;
    MappedArray<uint64_t> now(numbers), sparse(numbers, Access::sparse);
    Pages::at_once = false;
    EXPECT_EQ(given(now), pages);
    EXPECT_EQ(now[numbers - 1], 0u);
    EXPECT_EQ(given(sparse), 0u);
    sparse[numbers / 2] = 1;
    EXPECT_EQ(given(sparse), 1u);
}

TEST(FlowMapMemory, a_full_table_stays_right_while_entries_come_and_go) {
    Bench<Spec<0, drop_>> b(1000);
    for (uint32_t key = 0; key < 30'000; ++key) {
        if (key >= 1000) b.remove(key - 1000);
        ASSERT_EQ(b.put(key, key), Put::stored);
        ASSERT_FALSE(b.contains(key + 1));
        if (key % 5000 != 4999) continue;
        for (uint32_t live = key - 999; live <= key; ++live) ASSERT_EQ(b.get(live), live);
        ASSERT_FALSE(b.contains(key - 1000));
    }
}

TEST(FlowMapMemory, a_bucket_may_be_passed_more_often_than_it_can_count) {
    constexpr uint32_t many = 70'000;
    PlaceTable table(many);
    for (uint32_t i = 0; i < many; ++i) table.insert(0);
    uint32_t found = 0;
    EXPECT_EQ(table.find(0, [&](uint32_t) { return ++found == many; }) < table.numbers(), true);
    for (uint32_t n = 0; n < many; ++n) table.erase(0, n);
    EXPECT_EQ(table.find(0, [](uint32_t) { return true; }), PlaceTable::none);
    const uint32_t last = table.insert(0);
    EXPECT_EQ(table.find(0, [](uint32_t) { return true; }), last);
}

TEST(FlowMapMemory, what_is_removed_before_it_is_due_leaves_nothing_behind) {
    // all within one slot of the wheel, and later in the past of its slot
    Bench<Spec<HasIdle | HasAge, drop_, 1'000'000'000>> b(1000);
    b.world.idle = b.world.age = [](uint64_t, Val) { return 1'000'000'000; };
    b.at(5).put(7, 7);
    for (uint32_t key = 100; key < 1100; ++key) b.put(key, key), b.remove(key);
    const size_t before = b.map.memory();
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t key = 100; key < 20'000; ++key) b.put(key, key), b.remove(key);
        EXPECT_LE(b.map.memory(), before + 4'000);
        EXPECT_EQ(b.map.next_due(NEVER - 1), 1'000'000'005u);
    }
    b.world.idle = [](uint64_t, Val) { return 1000; };
    b.at(1'000'000'001);
    const size_t late = b.map.memory();
    for (uint32_t key = 100; key < 20'000; ++key) b.put(key, key), b.remove(key);
    EXPECT_LE(b.map.memory(), late + 10'000);
}

TEST(FlowMapMemory, a_due_time_that_rises_and_sinks_leaves_nothing_behind) {
    Bench<Spec<HasIdle | IdleVaries, drop_, 1'000'000'000>> b(1000);
    uint64_t idle = 900'000'000;
    b.world.idle = [&](uint64_t, Val) { return idle; };
    for (uint32_t key = 0; key < 10; ++key) b.put(key, key);
    const auto turn = [&](uint32_t rounds) {
        for (uint32_t i = 0; i < rounds; ++i) {
            idle = i % 2 == 0 ? 400'000'000 + i : 900'000'000;
            for (uint32_t key = 0; key < 10; ++key) b.get(key);
        }
    };
    turn(100);
    const size_t before = b.map.memory();
    turn(10'001);
    EXPECT_LE(b.map.memory(), before + 1000);
    EXPECT_EQ(b.map.next_due(NEVER - 1), 400'010'000u);
    b.at(400'010'000);
    EXPECT_EQ(b.ended().size(), 10u);
    EXPECT_EQ(b.ended()[0].key, 0u);
}

TEST(FlowMapMemory, hundreds_in_one_slot_end_by_due_time_and_then_by_insertion) {
    Bench<Spec<HasIdle | IdleVaries, drop_, 1'000'000>> b(2000);
    b.world.idle = [](uint64_t key, Val) { return 900'000 + key * 7919 % 101; };
    for (uint32_t key = 0; key < 700; ++key) b.at(key / 100).put(key, key);
    for (uint32_t key = 0; key < 700; key += 3) b.at(10).get(key);
    for (uint32_t key = 700; key < 900; ++key) b.at(10).put(key, key);
    for (uint32_t key = 5; key < 900; key += 50) b.at(10).remove(key);
    std::vector<std::pair<uint64_t, uint64_t>> expected, ended;
    for (uint64_t key = 0; key < 900; ++key) {
        const uint64_t used = key >= 700 || key % 3 == 0 ? 10 : key / 100;
        if (key % 50 != 5) expected.emplace_back(used + 900'000 + key * 7919 % 101, key);
    }
    std::sort(expected.begin(), expected.end());
    b.world.log.clear();
    b.at(1'000'000);
    for (const Told& t : b.ended()) ended.emplace_back(t.time, t.key);
    EXPECT_EQ(ended, expected);
}

TEST(FlowMapMemory, memory_is_what_is_said_for_each_entry) {
    constexpr uint32_t many = 200'000;
    const auto per_entry = [](auto& b) {
        for (uint32_t key = 0; key < many; ++key) b.at(key * 100).put(key, key);
        return static_cast<double>(b.map.memory()) / many;
    };
    Bench<Spec<HasIdle, drop_, 100'000'000>> plain(many);
    Bench<Spec<HasIdle | IdleVaries | HasIndex, evict, 100'000'000>> rich(many);
    plain.world.idle = rich.world.idle = [](uint64_t, Val) { return 100'000'000; };
    EXPECT_NEAR(per_entry(plain), static_cast<double>(plain.map.bytes_per_entry()), 3);
    EXPECT_NEAR(per_entry(rich), static_cast<double>(rich.map.bytes_per_entry()), 3);
}

TEST(FlowMapMemory, S1_1_what_is_revised_in_place_is_used) {
    Bench<Spec<HasIdle, drop_>> b(10);
    static_assert(FlowMap<Spec<HasIdle, drop_>>::plain && !FlowMap<Spec<HasIdle | IdleVaries, drop_>>::plain);
    b.world.idle = [](uint64_t, Val) { return 100; };
    b.put(1, 10);
    b.put(2, 20);
    b.at(60);
    b.map.revised(b.map.find(b.map.sought({1}))) = {11, 0};
    EXPECT_EQ(b.map.next_due(NEVER - 1), 100u);
    b.at(100);
    EXPECT_FALSE(b.contains(2));
    EXPECT_EQ(b.map.next_due(NEVER - 1), 160u);
    EXPECT_EQ(b.get(1), 11);
}

TEST(FlowMapMemory, tags_match_alike_with_and_without_vectors) {
    std::mt19937 random(1);
    for (unsigned i = 0; i < 2000; ++i) {
        alignas(32) uint8_t tags[32];
        for (uint8_t& tag : tags) tag = static_cast<uint8_t>(random() % 3 * 0x7f);
        for (const uint8_t tag : {0, 0x7f, 0xfe}) {
            EXPECT_EQ(match_tags<16>(tags, tag), match_tags_portable<16>(tags, tag));
            EXPECT_EQ(match_tags<32>(tags, tag), match_tags_portable<32>(tags, tag));
        }
    }
}

TEST(FlowMapMemory, a_table_that_was_crowded_forgets) {
    // all hashes equal: every lookup passes full buckets; when they have emptied an absent key is found absent all the
    // same
    Bench<Spec<0, drop_>> b(300, true);
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t key = 0; key < 300; ++key) EXPECT_EQ(b.put(key, key + round), Put::stored);
        EXPECT_FALSE(b.contains(300));
        for (uint32_t key = 0; key < 300; ++key) EXPECT_EQ(b.get(key), int64_t{key} + round);
        for (uint32_t key = 0; key < 300; ++key) b.remove((key * 7) % 300);
        EXPECT_FALSE(b.contains(5));
    }
}

TEST(FlowMapMemory, a_capacity_of_millions_costs_nothing_at_start) {
    Bench<Spec<HasIdle | HasIndex, evict>> b(uint64_t{1} << 31);
    b.put(1, 1);
    EXPECT_EQ(b.get(1), 1);
    EXPECT_GE(b.map.memory(), (uint64_t{1} << 31) * sizeof(HotEntry<Spec<HasIdle | HasIndex, evict>>));
}

TEST(FlowMapMemory, prefetching_reads_nothing_wrong) {
    Bench<Spec<HasIndex, drop_>> b(100);
    for (uint32_t key = 0; key < 100; ++key) b.put(key, key);
    for (uint32_t key = 0; key < 200; ++key) {
        auto sought = b.map.sought({key});
        b.map.prefetch(sought);
        b.map.expect(sought);
        auto in_index = b.map.index_sought<0>({key});
        b.map.index_prefetch<0>(in_index);
        b.map.index_expect<0>(in_index);
        EXPECT_EQ(b.map.find(sought) != b.map.absent, key < 100);
        EXPECT_EQ(b.map.find_index<0>(in_index), b.map.find(sought));
    }
    EXPECT_EQ(b.get(99), 99);
}

}  // namespace
}  // namespace polysome::test
