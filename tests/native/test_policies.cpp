// The schedule policies alone, against vectors worked out by hand from kinds/policy/SCHEDULE.md; test names are its
// rules.
#include <gtest/gtest.h>

#include <string>

#include "nf/policy/fifo.hpp"
#include "nf/policy/link.hpp"
#include "nf/policy/police.hpp"
#include "nf/policy/reframe.hpp"
#include "nf/policy/shape.hpp"

namespace polysome {
namespace {

using Key = std::array<uint64_t, 1>;
using Lines = std::vector<std::string>;

struct Offer {
    uint64_t time;
    uint16_t port;
    uint32_t size;
    uint64_t cls;
    uint64_t first = 0;
    uint64_t second = 0;
};

struct Host {
    Lines lines;
    void leave(uint32_t packet, uint16_t port, uint64_t time) {
        lines.push_back(std::to_string(packet) + " left " + std::to_string(port) + " at " + std::to_string(time));
    }
    void refuse(uint32_t packet, uint16_t reason) {
        lines.push_back(std::to_string(packet) + " dropped " + std::to_string(reason));
    }
};

/// What becomes of the offers, numbered from 0, and of what is due by `end`.
template <template <class> class PolicyOf>
Lines run(const Settings& settings, const std::vector<Offer>& offers, uint64_t end = ~uint64_t{0}) {
    PolicyOf<Key> policy(settings);
    Host host;
    uint32_t number = 0;
    for (const Offer& offer : offers) {
        while (policy.next_due() <= offer.time) policy.run_due(host);
        policy.offer({number, offer.port, offer.size, number, {offer.first, offer.second}, {offer.cls}}, offer.time,
                     host);
        ++number;
    }
    while (policy.next_due() <= end) policy.run_due(host);
    const size_t told = host.lines.size();
    EXPECT_EQ(told + policy.held(), offers.size());  // P1.5
    return host.lines;
}

constexpr uint64_t gigabit = 1'000'000'000;  // a byte is 8 ns

TEST(Fifo, P3_1_leaves_at_arrival) {
    EXPECT_EQ(run<Fifo>({}, {{5, 0, 60, 1}, {5, 1, 60, 1}}), (Lines{"0 left 0 at 5", "1 left 1 at 5"}));
}

TEST(Link, P7_2_P7_3_P3_2_waits_for_the_port) {
    const Settings settings{.serve = gigabit, .buffer = 10'000};
    EXPECT_EQ(run<ServedFifo>(settings, {{1000, 0, 100, 1}, {1000, 0, 50, 2}, {1000, 1, 60, 1}, {1001, 0, 60, 1}}),
              (Lines{"0 left 0 at 1000", "2 left 1 at 1000", "1 left 0 at 1800", "3 left 0 at 2200"}));
}

TEST(Link, P7_4_ends_are_exact) {
    // 3 bit/s: 14 bytes take 112 / 3 s. Each leaving is rounded up once, never the sum.
    const Settings settings{.serve = 3, .buffer = 10'000};
    EXPECT_EQ(
        run<ServedFifo>(settings, {{0, 0, 14, 1}, {0, 0, 14, 1}, {0, 0, 14, 1}, {0, 0, 14, 1}}),
        (Lines{"0 left 0 at 0", "1 left 0 at 37333333334", "2 left 0 at 74666666667", "3 left 0 at 112000000000"}));
}

TEST(Link, P1_7_room) {
    const Settings settings{.serve = gigabit, .classes = 2, .buffer = 200, .queue = 100};
    EXPECT_EQ(run<ServedFifo>(settings,
                              {{0, 0, 100, 1},
                               {0, 0, 100, 1},    // equal to the queue: waits
                               {0, 0, 14, 1},     // queue full
                               {0, 0, 50, 2},     // waits
                               {0, 0, 14, 3},     // no free class
                               {0, 0, 51, 2},     // queue full before buffer full
                               {0, 0, 50, 2},     // equal to the buffer: waits
                               {800, 0, 14, 3}},  // 1 has left at 800: there is room again
                              ~uint64_t{0}),
              (Lines{"0 left 0 at 0", "2 dropped 8", "4 dropped 7", "5 dropped 8", "1 left 0 at 800",
                     "3 left 0 at 1600", "6 left 0 at 2000", "7 left 0 at 2400"}));
    EXPECT_EQ(run<ServedFifo>({.serve = gigabit, .buffer = 50}, {{0, 0, 100, 1}, {0, 0, 51, 1}}),
              (Lines{"0 left 0 at 0", "1 dropped 9"}));
}

TEST(Link, P1_4_ports_take_turns_in_port_order) {
    const Settings settings{.serve = gigabit, .buffer = 10'000};
    EXPECT_EQ(run<ServedFifo>(settings, {{0, 1, 100, 1}, {0, 0, 100, 1}, {0, 1, 100, 2}, {0, 0, 100, 2}}),
              (Lines{"0 left 1 at 0", "1 left 0 at 0", "3 left 0 at 800", "2 left 1 at 800"}));
}

TEST(Priority, P8_1_P8_2_only_first_of_a_class_compete) {
    const Settings settings{.serve = gigabit, .buffer = 10'000};
    EXPECT_EQ(run<Priority>(settings, {{0, 0, 100, 9, 0},
                                       {0, 0, 100, 1, 1},
                                       {0, 0, 100, 2, 2},
                                       {0, 0, 100, 1, 7},  // behind 1, of its class
                                       {0, 0, 100, 3, 2}}),
              (Lines{"0 left 0 at 0", "2 left 0 at 800", "4 left 0 at 1600", "1 left 0 at 2400", "3 left 0 at 3200"}));
}

TEST(Deadline, P9_1_earliest_first_and_saturates) {
    const Settings settings{.serve = gigabit, .buffer = 10'000};
    EXPECT_EQ(run<Deadline>(settings, {{10, 0, 100, 9, 0},
                                       {10, 0, 100, 1, ~uint64_t{0}},
                                       {10, 0, 100, 2, ~uint64_t{0} - 10},  // 2^64 - 1 as well: after 1
                                       {11, 0, 100, 3, 50},
                                       {12, 0, 100, 4, 48}}),
              (Lines{"0 left 0 at 10", "4 left 0 at 810", "3 left 0 at 1610", "1 left 0 at 2410", "2 left 0 at 3210"}));
}

TEST(Drr, P10_weights_and_deficits) {
    // Quantum 1514 each: class 1 sends one of 1000 bytes a visit (514 left over), class 2 three of 500 (14 left).
    const Settings settings{.serve = gigabit, .buffer = 100'000};
    const Lines lines = run<Drr>(settings, {{0, 0, 100, 9, 1},
                                            {0, 0, 1000, 1, 1},
                                            {0, 0, 1000, 1, 1},
                                            {0, 0, 1000, 1, 1},
                                            {0, 0, 500, 2, 1},
                                            {0, 0, 500, 2, 1},
                                            {0, 0, 500, 2, 1},
                                            {0, 0, 500, 2, 1}});
    EXPECT_EQ(lines, (Lines{"0 left 0 at 0", "1 left 0 at 800", "4 left 0 at 8800", "5 left 0 at 12800",
                            "6 left 0 at 16800", "2 left 0 at 20800", "3 left 0 at 28800", "7 left 0 at 36800"}));
}

TEST(Drr, P10_6_weight_nought_is_one_and_long_packets_take_several_rounds) {
    const Settings settings{.serve = gigabit, .buffer = 100'000};
    EXPECT_EQ(run<Drr>(settings, {{0, 0, 100, 9, 0}, {0, 0, 4000, 1, 0}, {0, 0, 1500, 2, 0}, {0, 0, 1500, 2, 0}}),
              (Lines{"0 left 0 at 0", "2 left 0 at 800", "3 left 0 at 12800", "1 left 0 at 24800"}));
}

TEST(Police, P4_1_P4_2_takes_or_drops) {
    // 8 bit/s: a byte a second. Burst 100.
    const Settings settings{.classes = 4, .idle = ~uint64_t{0} - 1};
    const uint64_t s = 1'000'000'000;
    EXPECT_EQ(run<Police>(settings, {{0, 0, 60, 1, 8, 100},
                                     {0, 0, 60, 1, 8, 100},           // 40 left
                                     {20 * s - 1, 0, 60, 1, 8, 100},  // a nanosecond short
                                     {20 * s, 0, 60, 1, 8, 100},
                                     {20 * s, 0, 60, 2, 8, 100},      // a bucket of its own
                                     {999 * s, 0, 101, 1, 8, 100}}),  // longer than the burst
              (Lines{"0 left 0 at 0", "1 dropped 4", "2 dropped 4", "3 left 0 at 20000000000",
                     "4 left 0 at 20000000000", "5 dropped 4"}));
}

TEST(Police, P2_2_P2_3_forgets_idle_classes) {
    Settings settings{.classes = 1, .idle = 10};
    EXPECT_EQ(run<Police>(settings, {{0, 0, 60, 1, 8, 60}, {9, 0, 60, 2, 8, 60}, {10, 0, 60, 2, 8, 60}}),
              (Lines{"0 left 0 at 0", "1 dropped 7", "2 left 0 at 10"}));
    settings.when_full = WhenFull::pass;
    EXPECT_EQ(run<Police>(settings, {{0, 0, 60, 1, 8, 60}, {9, 0, 60, 2, 8, 10}}),
              (Lines{"0 left 0 at 0", "1 left 0 at 9"}));
}

TEST(Police, P2_4_evicts_the_class_used_longest_ago) {
    const Settings settings{.classes = 2, .idle = 1000, .when_full = WhenFull::evict};
    // 1 and 2 are made at 0; 1 is used again at 0, so by use 2 goes before it, but 1 was made first: 1 goes.
    EXPECT_EQ(
        run<Police>(settings, {{0, 0, 60, 1, 8, 60},
                               {0, 0, 60, 2, 8, 60},
                               {0, 0, 60, 1, 8, 60},
                               {1, 0, 60, 3, 8, 60},
                               {2, 0, 60, 2, 8, 60},    // still there, empty
                               {3, 0, 60, 1, 8, 60}}),  // anew, and full
        (Lines{"0 left 0 at 0", "1 left 0 at 0", "2 dropped 4", "3 left 0 at 1", "4 dropped 4", "5 left 0 at 3"}));
}

TEST(Shape, P5_1_P5_3_leaves_at_the_earliest_nanosecond) {
    const Settings settings{.classes = 4, .idle = 1'000'000'000'000, .buffer = 1000};
    // 3 bit/s, burst 20: 14 bytes leave at once, 6 remain; 8 more take 64 / 3 s, rounded up; nothing is lost by it.
    EXPECT_EQ(run<Shape>(settings, {{0, 0, 14, 1, 3, 20}, {0, 0, 14, 1, 3, 20}, {0, 0, 14, 1, 3, 20}}),
              (Lines{"0 left 0 at 0", "1 left 0 at 21333333334", "2 left 0 at 58666666667"}));
}

TEST(Shape, P5_4_P5_5_P1_7_reasons) {
    const Settings settings{.classes = 1, .idle = 10, .buffer = 100, .queue = 60};
    EXPECT_EQ(run<Shape>(settings, {{0, 0, 60, 1, 8, 60},
                                    {0, 0, 61, 1, 8, 60},    // longer than the burst
                                    {0, 0, 60, 1, 0, 60},    // no rate
                                    {0, 0, 60, 1, 8, 60},    // waits
                                    {1, 0, 14, 1, 8, 60},    // queue full
                                    {2, 0, 60, 2, 8, 60}}),  // the class holds something: not idle
              (Lines{"0 left 0 at 0", "1 dropped 5", "2 dropped 6", "4 dropped 8", "5 dropped 7",
                     "3 left 0 at 60000000000"}));
}

TEST(Shape, P5_5_the_last_nanosecond_of_time_counts) {
    const Settings settings{.classes = 1, .idle = 10, .buffer = 100'000};
    const uint64_t last = ~uint64_t{0};
    const uint64_t now = last - 14 * 8'000'000'000;  // 14 bytes at 1 bit/s end exactly there
    EXPECT_EQ(run<Shape>(settings, {{now, 0, 14, 1, 1, 14}, {now, 0, 14, 1, 1, 14}, {now, 0, 14, 1, 1, 14}}),
              (Lines{"0 left 0 at " + std::to_string(now), "2 dropped 6", "1 left 0 at " + std::to_string(last)}));
}

TEST(Reframe, P6_1_P6_2_groups_by_class) {
    EXPECT_EQ(run<Reframe>({.window = 100, .count = 4}, {{0, 0, 60, 1},
                                                         {1, 0, 60, 2},
                                                         {2, 1, 60, 1},
                                                         {3, 0, 60, 2},  // the fourth: all go
                                                         {4, 0, 60, 3},
                                                         {104, 0, 60, 3}}),  // the first of these is due: it is gone
              (Lines{"0 left 0 at 3", "2 left 1 at 3", "1 left 0 at 3", "3 left 0 at 3", "4 left 0 at 104",
                     "5 left 0 at 204"}));
}

TEST(ClassIndex, keeps_what_is_there) {
    ClassIndex<std::array<uint64_t, 2>> index;
    std::vector<uint32_t> slots;
    for (uint64_t i = 0; i < 5000; ++i) slots.push_back(index.insert({i * 7, i}));
    for (uint64_t i = 0; i < 5000; i += 2) index.erase(slots[i]);
    for (uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(index.find({i * 7, i}), i % 2 == 0 ? index.absent : slots[i]);
    EXPECT_EQ(index.size(), 2500u);
    EXPECT_LT(index.insert({1, 0}), 5000u);  // reused
}

}  // namespace
}  // namespace polysome
