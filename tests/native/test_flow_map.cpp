/// Section 1 of STATE.md for the native map. Vectors are computed by hand.
#include <gtest/gtest.h>

#include "flow_map_spec.hpp"

namespace polysome::test {
namespace {

constexpr auto drop_ = WhenFull::drop, evict = WhenFull::evict, pass = WhenFull::pass;
using Items = std::vector<std::pair<uint64_t, uint32_t>>;

Told told(const char* what, uint64_t time, uint64_t key, uint32_t number) { return {what, time, key, {number, 0}}; }

TEST(FlowMap, S1_1_a_use_refreshes_and_a_look_does_not) {
    Bench<Spec<HasIdle | HasIndex, drop_>> b(9);
    for (uint32_t key = 1; key <= 6; ++key) b.at(0).put(key, key * 10);
    b.at(5);
    EXPECT_EQ(b.get(1), 10);
    EXPECT_EQ(b.get_index(20), 2);
    EXPECT_TRUE(b.contains(3) && b.has(40));
    EXPECT_EQ(b.items().size(), 6u);
    EXPECT_EQ(b.map.size(), 6u);
    EXPECT_EQ(b.at(10).items(), (Items{{1, 10}, {2, 20}}));
    EXPECT_EQ(b.at(15).items(), Items{});
    EXPECT_TRUE(b.get(1) == -1 && b.get_index(10) == -1);
}

TEST(FlowMap, S1_2_an_entry_ends_at_the_nanosecond_it_is_due) {
    Bench<Spec<HasIdle | HasAge, drop_>> b;
    b.world.age = [](uint64_t, Val) { return 25; };
    b.at(100).put(1, 7);
    EXPECT_EQ(b.map.next_due(109), NEVER);
    EXPECT_EQ(b.map.next_due(110), 110u);
    EXPECT_EQ(b.at(109).get(1), 7);
    EXPECT_EQ(b.map.next_due(1000), 119u);
    EXPECT_EQ(b.at(118).get(1), 7);
    EXPECT_EQ(b.map.next_due(124), NEVER);
    EXPECT_EQ(b.map.next_due(125), 125u);
    EXPECT_TRUE(b.at(124).contains(1));
    EXPECT_FALSE(b.at(125).contains(1));
    EXPECT_EQ(b.ended(), (Log{told("age", 125, 1, 7)}));
}

TEST(FlowMap, S1_2_a_write_starts_both_anew_and_idle_wins_a_tie) {
    Bench<Spec<HasIdle | HasAge, drop_>> b;
    b.world.age = [](uint64_t, Val) { return 15; };
    b.at(0).put(1, 1);
    EXPECT_EQ(b.at(5).get(1), 1);
    b.at(200);
    EXPECT_EQ(b.ended(), (Log{told("idle", 15, 1, 1)}));
    b.at(300).put(1, 2);
    b.at(308).put(1, 3);
    EXPECT_EQ(b.map.next_due(NEVER - 1), 318u);
}

TEST(FlowMap, S1_2_without_idle_and_age_nothing_is_ever_due) {
    Bench<Spec<0, drop_>> b;
    b.at(0).put(1, 1);
    EXPECT_EQ(b.map.next_due(NEVER), NEVER);
    b.map.expire_one();
    EXPECT_EQ(b.map.size(), 1u);
}

TEST(FlowMap, S1_2_a_due_time_past_the_clock_never_comes) {
    Bench<Spec<HasIdle | IdleVaries, drop_>> b;
    b.world.idle = [](uint64_t key, Val) { return key == 1 ? NEVER : 5; };
    b.at(7).put(1, 1);
    EXPECT_EQ(b.map.next_due(NEVER - 1), NEVER);
    b.put(2, 1);
    EXPECT_EQ(b.at(NEVER - 1).items(), (Items{{1, 1}}));
    b.world.idle = [](uint64_t, Val) { return 1; };
    EXPECT_EQ(b.map.next_due(NEVER), NEVER);
    b.remove(1);
    EXPECT_EQ(b.map.size(), 0u);
}

TEST(FlowMap, S1_2_a_due_time_past_the_clock_may_sink) {
    Bench<Spec<HasIdle | IdleVaries, drop_>> b;
    b.world.idle = [](uint64_t, Val) { return NEVER; };
    b.at(7).put(1, 1);
    b.world.idle = [](uint64_t, Val) { return 3; };
    EXPECT_EQ(b.at(1000).get(1), 1);
    EXPECT_EQ(b.map.next_due(5000), 1003u);
}

TEST(FlowMap, S1_3_an_overwrite_keeps_its_place) {
    Bench<Spec<HasIdle, drop_>> b;
    b.at(0).put(1, 1);
    b.at(1).put(2, 2);
    b.at(2).put(1, 3);
    EXPECT_EQ(b.items(), (Items{{1, 3}, {2, 2}}));
    EXPECT_EQ(b.ended(), Log{});
    b.at(99);
    EXPECT_EQ(b.ended(), (Log{told("idle", 11, 2, 2), told("idle", 12, 1, 3)}));
}

TEST(FlowMap, S1_4_at_one_instant_entries_end_in_insertion_order) {
    Bench<Spec<HasIdle | IdleVaries, drop_>> b(3);
    b.world.idle = [](uint64_t, Val value) { return value.number; };
    b.at(0).put(1, 9);
    b.at(4).put(2, 5);
    b.at(6).put(3, 3);
    b.at(9);
    EXPECT_EQ(b.ended(), (Log{told("idle", 9, 1, 9), told("idle", 9, 2, 5), told("idle", 9, 3, 3)}));
}

TEST(FlowMap, S1_5_idle_is_evaluated_at_each_use_and_age_at_each_write) {
    Bench<Spec<HasIdle | IdleVaries | HasAge | AgeVaries, drop_>> b;
    uint64_t idle = 10, age = 100;
    b.world.idle = [&](uint64_t, Val value) { return idle * value.number; };
    b.world.age = [&](uint64_t, Val) { return age; };
    b.at(0).put(1, 1);
    idle = 3;
    EXPECT_EQ(b.map.next_due(1000), 10u);  // no use since
    EXPECT_EQ(b.at(2).get(1), 1);
    EXPECT_EQ(b.map.next_due(1000), 5u);  // 2 + 3 * 1
    b.at(3).put(1, 2);
    EXPECT_EQ(b.map.next_due(1000), 9u);  // 3 + 3 * 2
    idle = 500, age = 4;
    EXPECT_EQ(b.at(4).get(1), 2);
    EXPECT_EQ(b.map.next_due(1000), 103u);  // age still 3 + 100
    b.at(5).put(1, 2);
    EXPECT_EQ(b.map.next_due(1000), 9u);  // 5 + 4
}

TEST(FlowMap, S1_5_zero_counts_as_one_nanosecond) {
    Bench<Spec<HasIdle | IdleVaries, drop_>> b;
    Bench<Spec<HasAge, drop_>> c;
    b.world.idle = c.world.age = [](uint64_t, Val) { return 0; };
    b.at(7).put(1, 1);
    c.at(7).put(1, 1);
    EXPECT_EQ(b.map.next_due(1000), 8u);
    EXPECT_EQ(c.map.next_due(1000), 8u);
}

TEST(FlowMap, S1_6_when_full) {
    Bench<Spec<HasOwned, drop_>> d;
    Bench<Spec<HasOwned, pass>> p;
    Bench<Spec<HasOwned, evict>> e;
    const auto fill = [](auto& b) {
        EXPECT_EQ(b.put(1, 1), Put::stored);
        EXPECT_EQ(b.put(2, 2), Put::stored);
        EXPECT_EQ(b.put(1, 3), Put::stored) << "an overwrite is never full";
    };
    fill(d), fill(p), fill(e);
    EXPECT_EQ(d.put(3, 4), Put::full);
    EXPECT_EQ(p.put(3, 4), Put::passed);
    EXPECT_EQ(e.put(3, 4), Put::stored);
    EXPECT_EQ(d.items(), (Items{{1, 3}, {2, 2}}));
    EXPECT_EQ(p.items(), (Items{{1, 3}, {2, 2}}));
    EXPECT_EQ(e.items(), (Items{{2, 2}, {3, 4}}));
    EXPECT_EQ(d.owned(), "+1+2+3-1");
    EXPECT_EQ(p.owned(), "+1+2+3-1");
    EXPECT_EQ(e.ended(), (Log{told("evicted", 0, 1, 3)}));
}

TEST(FlowMap, S1_6_a_capacity_of_zero_or_beyond_2_to_31_is_refused) {
    using B = Bench<Spec<0, drop_>>;
    EXPECT_THROW(B b(0), std::invalid_argument);
    EXPECT_THROW(B b((uint64_t{1} << 31) + 1), std::invalid_argument);
}

TEST(FlowMap, S1_7_oldest_is_used_longest_ago_among_equals_inserted_first) {
    Bench<Spec<HasIdle, evict>> b(3);
    b.world.idle = [](uint64_t, Val) { return 100; };
    for (uint32_t key = 1; key <= 3; ++key) b.at(0).put(key, key);
    b.at(5).get(2);
    b.get(1);  // 1 and 2 used at 5, 2 first; 1 was inserted first. 3 is the oldest
    b.contains(3);
    b.put(4, 4);
    b.at(6).put(5, 5);  // 1(5), 2(5), 4(5)
    b.at(7).put(6, 6);  // 2(5), 4(5), 5(6)
    EXPECT_EQ(b.ended(), (Log{told("evicted", 5, 3, 3), told("evicted", 6, 1, 1), told("evicted", 7, 2, 2)}));
}

TEST(FlowMap, S1_7_with_age_alone_oldest_is_written_longest_ago) {
    Bench<Spec<HasAge, evict>> b;
    Bench<Spec<HasAge | AgeVaries, evict>> c;
    const auto run = [](auto& x) {
        x.world.age = [](uint64_t, Val) { return 100; };
        x.at(0).put(1, 1);
        x.at(1).put(2, 2);
        x.at(2).put(1, 3);
        x.at(3).get(2);  // counts for nothing here
        x.at(4).put(3, 4);
        EXPECT_EQ(x.ended(), (Log{told("evicted", 4, 2, 2)}));
    };
    run(b), run(c);
}

TEST(FlowMap, S1_7_with_both_oldest_is_used_longest_ago) {
    Bench<Spec<HasIdle | HasAge, evict>> b;
    b.world.idle = b.world.age = [](uint64_t, Val) { return 100; };
    b.at(0).put(1, 1);
    b.at(1).put(2, 2);
    b.at(2).get(1);
    b.at(3).put(3, 3);
    EXPECT_EQ(b.ended(), (Log{told("evicted", 3, 2, 2)}));
}

TEST(FlowMap, S1_8_on_end_finds_the_entry_gone_and_its_value_given_back) {
    Bench<Spec<HasIndex | HasOwned, evict>> b(1);
    int ran = 0;
    b.world.on_end = [&](uint64_t key, Val value, End) {
        ++ran;
        EXPECT_FALSE(b.contains(key) || b.has(value.number) || b.contains(2));
        EXPECT_EQ(b.map.size(), 0u);
        EXPECT_EQ(b.owned(), ran == 1 ? "+1+2-1" : "+1+2-1-2");
    };
    b.put(1, 1);
    b.put(2, 2);
    b.remove(2);
    EXPECT_EQ(ran, 2);
}

TEST(FlowMap, S1_9_the_write_is_checked_again_after_on_end) {
    Bench<Spec<HasOwned, evict>> b(1), c(1);
    b.world.on_end = [&](uint64_t, Val, End) { b.put(2, 7); };
    b.put(1, 1);
    EXPECT_EQ(b.put(2, 2), Put::stored);  // on end wrote it first: overwritten
    EXPECT_EQ(b.items(), (Items{{2, 2}}));
    EXPECT_EQ(b.owned(), "+1+2-1+7-7");
    c.world.on_end = [&](uint64_t, Val, End) { c.put(3, 7); };
    c.put(1, 1);
    EXPECT_EQ(c.put(2, 2), Put::full);  // on end took the room
    EXPECT_EQ(c.items(), (Items{{3, 7}}));
    EXPECT_EQ(c.owned(), "+1+2-1+7-2");
}

TEST(FlowMap, S1_9_an_index_key_taken_by_on_end_traps) {
    Bench<Spec<HasIndex | HasOwned, evict>> b;
    b.world.on_end = [&](uint64_t, Val, End) { b.put(3, 2); };
    b.put(1, 1);
    b.put(2, 5);
    EXPECT_EQ(b.put(4, 2), Put::index_taken);
    EXPECT_EQ(b.items(), (Items{{2, 5}, {3, 2}}));
    EXPECT_EQ(b.owned(), "+1+5+2-1+2-2");
}

TEST(FlowMap, S1_9_a_key_and_value_that_lie_in_the_map_may_be_written) {
    Bench<Spec<HasIdle, evict>> b(1);
    b.put(1, 1);
    b.world.on_end = [&](uint64_t key, Val, End) {
        if (key == 1) b.put(9, 9), b.remove(9);
    };
    const uint32_t n = b.handle(1);
    b.map.put(b.map.sought({2}), b.map.value(n));
    EXPECT_EQ(b.items(), (Items{{2, 1}}));
}

TEST(FlowMap, S1_10_on_end_nests_eight_deep) {
    Bench<Spec<0, drop_>> b(20);
    Put innermost = Put::stored;
    b.world.on_end = [&](uint64_t key, Val, End) {
        if (const Put what = b.remove(key + 1); what != Put::stored) innermost = what;
    };
    for (uint32_t key = 0; key < 20; ++key) b.put(key, key);
    EXPECT_EQ(b.remove(0), Put::stored);
    EXPECT_EQ(innermost, Put::nested);
    EXPECT_EQ(b.map.size(), 12u);  // 0 to 7 ended, each within the one before
    EXPECT_EQ(b.items()[0].first, 8u);
    b.remove(19);
    EXPECT_EQ(b.map.size(), 11u);  // the count is back at none
}

TEST(FlowMap, S1_10_a_write_that_may_not_evict_holds_no_claim) {
    Bench<Spec<HasOwned, evict>> b(1);
    std::vector<Put> results;  // innermost first
    b.world.on_end = [&](uint64_t key, Val, End) {
        b.put(key + 1, 100);
        results.push_back(b.put(key + 2, 200));
    };
    b.put(0, 0);
    b.remove(0);
    ASSERT_EQ(results.size(), 8u);
    EXPECT_EQ(results[0], Put::nested);  // key 8 stays
    EXPECT_EQ(results[1], Put::stored);  // key 8 again
    EXPECT_EQ(results[2], Put::full);    // key 7
    EXPECT_EQ(b.items(), (Items{{8, 200}}));
    int held = 0;
    for (const Told& t : b.world.log) held += t.what == "claim" ? 1 : t.what == "release" ? -1 : 0;
    EXPECT_EQ(held, 1);
}

TEST(FlowMap, S1_10_a_pair_of_entries_may_end_each_other) {
    Bench<Spec<0, drop_>> b;
    b.world.on_end = [&](uint64_t, Val value, End) { b.remove(value.number); };
    b.put(1, 2);
    b.put(2, 1);
    b.remove(1);
    EXPECT_EQ(b.ended(), (Log{told("removed", 0, 1, 2), told("removed", 0, 2, 1)}));
}

TEST(FlowMap, S1_11_remove) {
    Bench<Spec<HasIdle, drop_>> b;
    b.at(0).put(1, 1);
    EXPECT_EQ(b.remove(2), Put::stored);
    EXPECT_EQ(b.ended(), Log{});
    b.at(3).remove(1);
    EXPECT_EQ(b.at(50).ended(), (Log{told("removed", 3, 1, 1)}));
    EXPECT_EQ(b.map.size(), 0u);
}

TEST(FlowMap, S1_12_an_index_is_unique_and_checked_first) {
    Bench<Spec<HasIndex | HasOwned, evict>> b;
    b.at(0).put(1, 1);
    b.at(1).put(2, 2);
    const PutResult result = b.write(3, {1, 0});
    EXPECT_EQ(result.what, Put::index_taken);  // though 1 would be evicted
    EXPECT_EQ(result.index, 0);
    EXPECT_EQ(b.put(2, 1), Put::index_taken);
    EXPECT_EQ(b.items(), (Items{{1, 1}, {2, 2}}));
    EXPECT_EQ(b.owned(), "+1+2");
    EXPECT_EQ(b.put(1, 1), Put::stored) << "an entry may keep its own index key";
    EXPECT_EQ(b.put(1, 3), Put::stored);
    EXPECT_EQ(b.get_index(1), -1);
    EXPECT_EQ(b.get_index(3), 1);
    b.remove(1);
    EXPECT_FALSE(b.has(3));
}

TEST(FlowMap, S1_12_index_before_full) {
    Bench<Spec<HasIndex, drop_>> b;
    b.put(1, 1);
    b.put(2, 2);
    EXPECT_EQ(b.put(3, 2), Put::index_taken);
    EXPECT_EQ(b.put(3, 3), Put::full);
}

TEST(FlowMap, S1_13_an_entry_whose_row_is_gone_reads_as_absent_but_takes_room) {
    Bench<Spec<HasIdle | HasIndex | HasAlive, drop_>> b;
    b.at(0).put(1, Val{1, 1});
    b.put(2, Val{2, 2});
    b.world.gone.insert(1);
    b.at(5);
    EXPECT_TRUE(b.get(1) == -1 && b.get_index(1) == -1 && !b.contains(1) && !b.has(1));
    EXPECT_EQ(b.items(), (Items{{2, 2}}));
    EXPECT_EQ(b.map.size(), 2u);
    EXPECT_EQ(b.put(3, Val{3, 2}), Put::full);
    b.at(10);  // not refreshed at 5
    EXPECT_EQ(b.ended(), (Log{{"idle", 10, 1, {1, 1}}, {"idle", 10, 2, {2, 2}}}));
}

TEST(FlowMap, S1_13_overwriting_it_releases_what_it_owned_without_on_end) {
    Bench<Spec<HasAlive | HasOwned, drop_>> b;
    b.put(1, Val{1, 1});
    b.world.gone.insert(1);
    b.put(1, Val{2, 2});
    EXPECT_EQ(b.owned(), "+1+2-1");
    EXPECT_EQ(b.ended(), Log{});
    EXPECT_EQ(b.get(1), 2);
}

TEST(FlowMap, S1_14_its_index_key_is_free) {
    Bench<Spec<HasIndex | HasAlive, drop_>> b;
    b.world.index = [](uint64_t, Val) { return 1; };
    b.put(1, Val{1, 1});
    EXPECT_EQ(b.put(2, Val{2, 2}), Put::index_taken);
    b.world.gone.insert(1);
    EXPECT_EQ(b.put(2, Val{2, 2}), Put::stored);
    EXPECT_EQ(b.get_index(1), 2);
    b.remove(1);  // takes no index key with it that is no longer its own
    EXPECT_TRUE(b.has(1));
}

TEST(FlowMap, S1_14_an_index_key_stays_what_it_was_at_the_write) {
    Bench<Spec<HasIndex | HasAlive, drop_>> b;
    uint64_t word = 1;
    b.world.index = [&](uint64_t, Val) { return word; };
    b.put(1, Val{1, 1});
    word = 2;  // the row's contents changed
    EXPECT_TRUE(b.has(1) && !b.has(2));
    b.remove(1);
    EXPECT_FALSE(b.has(1) || b.has(2));
}

TEST(FlowMap, S1_15_the_new_value_is_claimed_before_the_old_is_released) {
    Bench<Spec<HasOwned, evict>> b(1);
    b.put(1, 1);
    b.put(1, 1);
    b.put(2, 1);
    b.remove(2);
    EXPECT_EQ(b.owned(), "+1+1-1+1-1-1");
}

TEST(FlowMap, S1_16_a_trap_in_claim_stores_nothing_and_evicts_nothing) {
    Bench<Spec<HasOwned, evict>> b(1);
    b.world.may_claim = [](Val value) { return value.number != 2; };
    b.put(1, 1);
    EXPECT_EQ(b.put(2, 2), Put::not_taken);
    EXPECT_EQ(b.put(1, 2), Put::not_taken);
    EXPECT_EQ(b.items(), (Items{{1, 1}}));
}

struct SetSpec : Spec<0, drop_> {
    using Value = None;
    bool alive(const None&) const { return true; }
    void on_end(const Words&, const None&, End) {}
};

TEST(FlowMap, S1_17_a_set_is_a_map_without_values) {
    World world;
    FlowMap<SetSpec> s(SetSpec{{&world}}, world.clock, 2, 1, false);
    s.put(s.sought({1}), {});
    EXPECT_NE(s.find(s.sought({1})), s.absent);
    EXPECT_EQ(s.find(s.sought({2})), s.absent);
    EXPECT_EQ(s.items().size(), 1u);
    EXPECT_EQ(sizeof(HotEntry<SetSpec>), 8u);  // the key alone
}

/// Its last 8 bytes are padding.
struct Padded {
    u128 number = 0;
    uint64_t more = 0;
};
struct PaddedSpec : Spec<HasIdle, evict> {
    using Value = Padded;
    uint64_t idle(const Words&, const Padded&) const { return 100; }
    bool alive(const Padded&) const { return true; }
    void on_end(const Words& key, const Padded&, End why) { world->log.push_back({name_of(why), 0, key[0], {}}); }
};

TEST(FlowMap, a_value_with_padding_overwrites_nothing) {
    World world;
    FlowMap<PaddedSpec> map(PaddedSpec{{&world}}, world.clock, 2, 1, false);
    for (uint64_t key = 1; key <= 4; ++key) {
        world.clock.now = key;
        EXPECT_EQ(map.put(map.sought({key}), {key, key}).what, Put::stored);
        EXPECT_EQ(map.put(map.sought({key}), {~u128{0}, key}).what, Put::stored);
    }
    EXPECT_EQ(map.items().size(), 2u);
    EXPECT_EQ(map.next_due(1000), 103u);
    EXPECT_EQ(world.log, (Log{{"evicted", 0, 1, {}}, {"evicted", 0, 2, {}}}));
}

TEST(FlowMap, S1_the_worked_table) {
    Bench<Spec<HasIdle, evict>> b;
    b.at(0).put(1, 1);
    b.at(0).put(2, 2);
    EXPECT_EQ(b.at(4).get(1), 1);
    b.at(5).put(3, 3);
    b.at(6).put(1, 9);
    EXPECT_EQ(b.items(), (Items{{1, 9}, {3, 3}}));
    b.at(20);
    EXPECT_EQ(b.ended(), (Log{told("evicted", 5, 2, 2), told("idle", 15, 3, 3), told("idle", 16, 1, 9)}));
}

TEST(FlowMap, time_may_jump_by_years) {
    constexpr uint64_t hour = 3'600'000'000'000, year = 8766 * hour;
    Bench<Spec<HasIdle, drop_, hour>> b(1000);
    b.world.idle = [](uint64_t, Val) { return hour; };
    for (uint32_t round = 0; round < 5; ++round) {
        const uint64_t start = (56 + round) * year + round;
        b.at(start);
        EXPECT_EQ(b.map.size(), 0u);
        for (uint32_t i = 0; i < 1000; ++i) b.at(start + i * 1000).put(i, i);
        for (uint32_t i = 0; i < 1000; i += 2) b.at(start + hour / 2 + i).get(i);
        EXPECT_EQ(b.map.next_due(start + hour - 1), NEVER);
        EXPECT_EQ(b.map.next_due(NEVER - 1), start + hour + 1000);
    }
    b.at(100 * year);
    EXPECT_EQ(b.ended().size(), 5000u);
}

TEST(FlowMap, goes_on_in_a_map_with_room_for_all) {
    for (const uint64_t capacity : {2, 3, 4, 100}) {
        Bench<Spec<HasIdle, drop_>> b(3);
        for (uint32_t key = 1; key <= 3; ++key) b.at(key).put(key, key * 10);
        b.get(2);
        EXPECT_EQ(b.carried(capacity, 77, false), capacity >= 3);
        if (capacity < 3) continue;
        EXPECT_EQ(b.items(), (Items{{1, 10}, {2, 20}, {3, 30}}));
        EXPECT_EQ(b.put(4, 40), capacity == 3 ? Put::full : Put::stored);
        EXPECT_EQ(b.at(11).items().front().first, 2u);
    }
}

TEST(FlowMap, takes_nothing_over_twice) {
    Saver saver;
    Bench<Spec<HasIdle, drop_>> b(4);
    b.put(1, 10);
    saver(b.map);
    const auto bytes = saver.take();
    Loader loader(bytes);
    loader(b.map);
    EXPECT_FALSE(loader.ok());
}

}  // namespace
}  // namespace polysome::test
