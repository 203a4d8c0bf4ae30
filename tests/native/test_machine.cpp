// The machine: order of events, verdicts, copies, accounting (LANGUAGE.md sections 2, 9, 11, 13), several cores, the C
// ABI.
#include <gtest/gtest.h>

#include "host/library.hpp"
#include "nf/policy/fifo.hpp"
#include "nf/policy/link.hpp"
#include "nf/policy/police.hpp"
#include "nf/policy/reframe.hpp"
#include "nf/policy/shape.hpp"
#include "tiny_nf.hpp"

POLYSOME_LIBRARY(polysome::tiny::Nf<polysome::Fifo>)

namespace polysome {
namespace {

using tiny::Log;
using Lines = std::vector<std::string>;

/// A packet of at least 14 bytes: see tiny_nf.hpp.
struct Frame {
    uint64_t time;
    uint16_t port;
    char op;
    uint8_t ports;
    uint8_t number = 0;
    uint8_t cls = 0;
    uint8_t first = 0;
    uint8_t second = 0;
    uint32_t size = 20;
};

/// Frames with their own bytes.
struct Trace {
    explicit Trace(const std::vector<Frame>& frames) : bytes(frames.size()) {
        for (size_t i = 0; i < frames.size(); ++i) {
            const Frame& f = frames[i];
            bytes[i].resize(f.size);
            const uint8_t head[6] = {static_cast<uint8_t>(f.op), f.ports, f.number, f.cls, f.first, f.second};
            std::copy_n(head, std::min<size_t>(6, f.size), bytes[i].begin());
            arrivals.push_back({f.time, bytes[i].data(), f.size, f.port});
        }
    }
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<Arrival> arrivals;
};

template <template <class> class PolicyOf>
using MachineOf = Machine<tiny::Nf<PolicyOf>, Log>;

/// What happens, events of the NF's own included, with any batch.
template <template <class> class PolicyOf>
Lines run(const std::vector<Frame>& frames, const std::vector<std::pair<uint64_t, uint8_t>>& changes = {},
          size_t batch = 32) {
    Log log;
    MachineOf<PolicyOf> machine(log, {}, false, batch);
    machine.nf().log = &log.lines;
    for (const auto& [time, open] : changes) machine.change_at(time, {&open, 1});
    Trace trace(frames);
    machine.arrive(trace.arrivals);
    machine.finish();
    const auto& c = machine.counters();
    uint64_t dropped = 0;
    for (const uint64_t n : c.dropped) dropped += n;
    EXPECT_EQ(c.packets_in, frames.size());
    EXPECT_EQ(c.packets_in, c.sent + dropped + machine.held());  // L13.1
    EXPECT_FALSE(machine.failed());
    return log.lines;
}

class MachineTest : public ::testing::Test {
  protected:
    void SetUp() override { tiny::settings() = {}; }
};

TEST_F(MachineTest, L9_verdicts) {
    EXPECT_EQ(run<Fifo>({{1, 0, 's', 0b101}, {2, 0, 'd', 1}, {3, 3, 's', 1}, {4, 1, 'z', 1}, {5, 2, 's', 0}}),
              (Lines{"left 0 1 s 0", "left 2 1 s 0", "dropped 1 10", "dropped 2 1", "dropped 3 2", "dropped 4 3"}));
}

TEST_F(MachineTest, L4_4_a_short_frame_is_dropped_after_its_handler) {
    // A drop of the handler's own comes first; policies see nothing of a short frame.
    EXPECT_EQ(run<Reframe>({{1, 0, 'z', 1}}), (Lines{"dropped 0 2"}));
}

TEST_F(MachineTest, L10_edits_are_in_every_copy) {
    EXPECT_EQ(run<Fifo>({{1, 0, 'b', 3}}), (Lines{"left 0 1 ! 0", "left 1 1 ! 0"}));
}

TEST_F(MachineTest, L9_7_emitted_leaves_at_once_with_its_cause) {
    EXPECT_EQ(run<Fifo>({{1, 0, 's', 1}, {2, 0, 'e', 1, 'm'}}),
              (Lines{"left 0 1 s 0", "emitted 1 2 m 1", "left 0 2 e 1"}));
}

TEST_F(MachineTest, L2_3_order_of_events_at_one_instant) {
    tiny::settings() = {.window = 100, .count = 9};
    // All due at 110: the entry kept at 10 for 100 ns, the release of the packet held since 10, `every 100`, the
    // change.
    EXPECT_EQ(run<Reframe>({{10, 0, 'k', 1, 100}, {110, 0, 's', 2}}, {{110, 0}}),
              (Lines{"end 110", "emitted 2 110 E none", "left 0 110 k 0", "every0 110", "config 110", "dropped 1 10"}));
}

TEST_F(MachineTest, L2_2_events_have_their_own_time) {
    EXPECT_EQ(run<Fifo>({{10, 0, 'k', 1, 50}, {10, 0, 'k', 1, 40}, {270, 0, 's', 1}}),
              (Lines{"left 0 10 k 0", "left 0 10 k 1", "end 50", "emitted 2 50 E none", "end 60", "emitted 2 60 E none",
                     "every0 110", "every0 210", "every1 260", "left 0 270 s 2"}));
}

TEST_F(MachineTest, L2_1_time_never_runs_back) {
    EXPECT_EQ(run<Fifo>({{50, 0, 's', 1}, {10, 0, 's', 1}}), (Lines{"left 0 50 s 0", "left 0 50 s 1"}));
    // The last of a batch is not the latest.
    EXPECT_EQ(run<Fifo>({{10, 0, 'k', 1, 5}, {20, 0, 's', 1}, {7, 0, 's', 1}}),
              (Lines{"left 0 10 k 0", "end 15", "emitted 2 15 E none", "left 0 20 s 1", "left 0 20 s 2"}));
}

TEST_F(MachineTest, L2_4_timers_count_from_the_first_packet) {
    Log log;
    MachineOf<Fifo> machine(log);
    machine.nf().log = &log.lines;
    machine.advance(5000);  // no packet yet: no timer
    Trace trace({{4000, 0, 's', 1}, {5100, 0, 's', 1}});
    machine.arrive(trace.arrivals);
    machine.advance(5200);
    EXPECT_EQ(log.lines, (Lines{"left 0 5000 s 0", "every0 5100", "left 0 5100 s 1", "every0 5200"}));
}

TEST_F(MachineTest, L2_2_what_is_due_at_the_last_packet_happens_after_it) {
    tiny::settings() = {.window = 0, .count = 9};
    EXPECT_EQ(run<Reframe>({{10, 0, 'k', 1, 0}}), (Lines{"end 10", "emitted 2 10 E none", "left 0 10 k 0"}));
    tiny::settings() = {.window = 1, .count = 9};
    EXPECT_EQ(run<Reframe>({{10, 0, 's', 1}}), Lines{});  // held
}

TEST_F(MachineTest, L8_config_changes_between_packets_of_one_batch) {
    EXPECT_EQ(run<Fifo>({{1, 0, 's', 1}, {2, 0, 's', 1}, {3, 0, 's', 1}}, {{2, 0}, {3, 1}}),
              (Lines{"left 0 1 s 0", "config 2", "dropped 1 10", "config 3", "left 0 3 s 2"}));
}

TEST_F(MachineTest, config_that_is_malformed_changes_nothing_and_is_reported) {
    Log log;
    MachineOf<Fifo> machine(log);
    const std::array<uint8_t, 2> wrong = {0, 0};
    machine.change_at(1, wrong);
    Trace trace({{2, 0, 's', 1}});
    machine.arrive(trace.arrivals);
    EXPECT_EQ(log.lines, (Lines{"left 0 2 s 0"}));
    EXPECT_TRUE(machine.failed());
}

TEST_F(MachineTest, L11_2_values_that_trap_drop_before_the_offer) {
    tiny::settings() = {.window = 5, .count = 1};
    EXPECT_EQ(run<Reframe>({{1, 0, 't', 1}, {2, 0, 's', 1}}), (Lines{"dropped 0 11", "left 0 2 s 1"}));
    EXPECT_EQ(run<Fifo>({{1, 0, 't', 1}}), (Lines{"left 0 1 t 0"}));  // a plain fifo has no values
}

TEST_F(MachineTest, L11_2_sizes_are_at_least_14) {
    tiny::settings() = {.serve = 8'000'000'000, .buffer = 100};  // a byte a ns
    EXPECT_EQ(run<ServedFifo>({{0, 0, 's', 1, 0, 0, 0, 0, 6}, {0, 0, 's', 1, 0, 0, 0, 0, 6}, {20, 0, 's', 2}}),
              (Lines{"left 0 0 s 0", "left 0 14 s 1", "left 1 20 s 2"}));
}

TEST_F(MachineTest, L13_1_copies_of_one_packet) {
    tiny::settings() = {.serve = 8'000'000'000, .buffer = 30};
    // Packet 0 takes port 0. Of packet 1 the copy to port 0 waits, that to port 1 leaves: sent. Packet 2's copy to port
    // 0 finds no room, that to port 1 neither: dropped, once. Packet 3 leaves by port 2 and is dropped at port 0: sent.
    Log log;
    MachineOf<ServedFifo> machine(log);
    Trace trace({{0, 0, 's', 1}, {0, 0, 's', 3}, {0, 0, 's', 3}, {0, 0, 's', 5}});
    machine.arrive(trace.arrivals);
    machine.finish();
    EXPECT_EQ(log.lines, (Lines{"left 0 0 s 0", "left 1 0 s 1", "dropped 2 9", "left 2 0 s 3"}));
    EXPECT_EQ(machine.counters().sent, 3u);
    EXPECT_EQ(machine.counters().copies, 3u);
    EXPECT_EQ(machine.counters().dropped[refused_buffer], 1u);
    EXPECT_EQ(machine.held(), 0u);  // a copy waits, but of a packet that counts as sent
    machine.advance(20);
    EXPECT_EQ(log.lines.back(), "left 0 20 s 1");
    EXPECT_EQ(machine.counters().copies, 4u);
}

TEST_F(MachineTest, held_packets_keep_their_bytes) {
    tiny::settings() = {.window = 1000, .count = 3};
    Log log;
    MachineOf<Reframe> machine(log);
    std::vector<uint8_t> frame(300);
    for (const char op : {'b', 's', 'k'}) {  // one buffer for all, as a ring of a device
        frame.assign(300, 0);
        frame[0] = static_cast<uint8_t>(op);
        frame[1] = 3;
        const Arrival arrival{1, frame.data(), static_cast<uint32_t>(frame.size()), 0};
        machine.arrive({&arrival, 1});
        if (op == 'b') {
            EXPECT_EQ(machine.held(), 1u);
        }
    }
    // Two copies each, three at a time: the buffer empties at packet 1's first copy, and at packet 2's last.
    EXPECT_EQ(log.lines,
              (Lines{"left 0 1 ! 0", "left 1 1 ! 0", "left 0 1 s 1", "left 1 1 s 1", "left 0 1 k 2", "left 1 1 k 2"}));
}

TEST_F(MachineTest, batches_change_nothing) {
    std::vector<Frame> frames;
    uint64_t state = 1, time = 0;
    for (int i = 0; i < 500; ++i) {
        state = hash_words<1>({state}, 7);
        time += state % 40;
        frames.push_back({time, static_cast<uint16_t>(state >> 8 & 3), "sdekbtz"[state % 7],
                          static_cast<uint8_t>(state >> 16 & 15), static_cast<uint8_t>(state >> 24),
                          static_cast<uint8_t>(state >> 32 & 3), static_cast<uint8_t>(state >> 40), 100});
    }
    const std::vector<std::pair<uint64_t, uint8_t>> changes = {{3000, 0}, {3100, 1}, {7000, 1}};
    const auto same = [&]<template <class> class PolicyOf>() {
        const Lines single = run<PolicyOf>(frames, changes, 1);
        EXPECT_GT(single.size(), 500u);
        EXPECT_EQ(run<PolicyOf>(frames, changes, 32), single);
        EXPECT_EQ(run<PolicyOf>(frames, changes, 7), single);
        tiny::remembered() = far_away + 1;
        EXPECT_EQ(run<PolicyOf>(frames, changes, 64), single);
        tiny::remembered() = 0;
    };
    same.template operator()<Fifo>();
    tiny::settings() = {.serve = 8'000'000'000, .classes = 3, .buffer = 200, .queue = 100};
    same.template operator()<ServedFifo>();
    same.template operator()<Priority>();
    same.template operator()<Deadline>();
    same.template operator()<Drr>();
    tiny::settings() = {.classes = 2, .idle = 100, .buffer = 200, .when_full = WhenFull::evict};
    same.template operator()<Police>();
    same.template operator()<Shape>();
    tiny::settings() = {.window = 77, .count = 5};
    same.template operator()<Reframe>();
}

/// How many packets were parsed when each of 200 was decided.
std::vector<size_t> looked_ahead(size_t remembered, size_t batch) {
    struct Seen : Log {
        std::vector<size_t> parsed;
        void decided(uint64_t, uint64_t, const tiny::Nf<Fifo>::Packet&) { parsed.push_back(tiny::parsed()); }
    } seen;
    Machine<tiny::Nf<Fifo>, Seen> machine(seen, {}, false, batch);
    tiny::remembered() = remembered;
    tiny::parsed() = 0;
    Trace trace(std::vector<Frame>(200, {1, 0, 's', 1}));
    machine.arrive(trace.arrivals);
    tiny::remembered() = 0;
    return seen.parsed;
}

TEST_F(MachineTest, more_packets_are_looked_at_together_where_entries_are_far) {
    const auto in_batches_of = [](size_t n) {
        std::vector<size_t> parsed;
        for (size_t i = 0; i < 200; ++i) parsed.push_back(std::min<size_t>((i / n + 1) * n, 200));
        return parsed;
    };
    EXPECT_EQ(looked_ahead(0, 64), in_batches_of(32));
    EXPECT_EQ(looked_ahead(far_away, 64), in_batches_of(32));
    EXPECT_EQ(looked_ahead(far_away + 1, 64), in_batches_of(64));
    EXPECT_EQ(looked_ahead(far_away + 1, 1000), in_batches_of(64));
    EXPECT_EQ(looked_ahead(far_away + 1, 33), in_batches_of(33));
    EXPECT_EQ(looked_ahead(0, 33), in_batches_of(32));
    EXPECT_EQ(looked_ahead(far_away + 1, 0), in_batches_of(1));
}

using Sharding = MachineTest;

TEST_F(Sharding, events_go_core_by_core_and_packets_by_key) {
    Log log;
    Sharded<tiny::Nf<Fifo>, Log> machines(log, 2);
    machines.machine(0).nf().log = &log.lines;
    Trace trace({{10, 0, 'k', 1, 90, 1}, {10, 0, 'k', 1, 95, 0}, {10, 3, 's', 1}, {110, 0, 's', 1, 0, 1}});
    machines.arrive(trace.arrivals);
    machines.finish();
    // Core 0 is brought to 110 first: its entry ends at 105, its timer fires; then core 1's entry ends, at 100.
    EXPECT_EQ(log.lines, (Lines{"left 0 10 k 0", "left 0 10 k 1", "dropped 2 1", "end 105", "emitted 2 105 E none",
                                "every0 110", "emitted 2 100 E none", "left 0 110 s 3"}));
    EXPECT_EQ(machines.counters().packets_in, 4u);
    EXPECT_EQ(machines.machine(0).counters().packets_in, 2u);
    EXPECT_EQ(machines.counters().emitted, 2u);
}

TEST_F(Sharding, every_core_gets_the_config_and_counts_time_from_the_first_packet) {
    Log log;
    Sharded<tiny::Nf<Fifo>, Log> machines(log, 3);
    for (size_t i = 0; i < 3; ++i) machines.machine(i).nf().log = &log.lines;
    const uint8_t closed = 0;
    machines.change_at(105, {&closed, 1});
    Trace trace({{10, 0, 's', 1, 0, 2}, {110, 0, 's', 1, 0, 1}});
    machines.arrive(trace.arrivals);
    EXPECT_EQ(log.lines, (Lines{"left 0 10 s 0", "config 105", "every0 110", "config 105", "every0 110", "config 105",
                                "every0 110", "dropped 1 10"}));
}

TEST_F(Sharding, one_core_is_the_machine) {
    Log log;
    Sharded<tiny::Nf<Fifo>, Log> machines(log, 1);
    machines.machine(0).nf().log = &log.lines;
    const std::vector<Frame> frames = {{10, 0, 'k', 1, 90, 1}, {500, 0, 's', 3}};
    Trace trace(frames);
    machines.arrive(trace.arrivals);
    machines.finish();
    EXPECT_EQ(log.lines, run<Fifo>(frames));
}

// ------------------------------------------------------------ the C ABI

struct Record {
    int kind;
    int port;
    uint32_t size;
    uint64_t time;
    uint64_t order;
    auto operator<=>(const Record&) const = default;
};

std::vector<Record> records(void* handle) {
    const uint8_t* data = nullptr;
    const size_t n = polysome_records(handle, &data);
    std::vector<Record> found;
    for (size_t i = 0; i < n;) {
        Record r{data[i], data[i + 2] | data[i + 3] << 8, 0, 0, 0};
        std::memcpy(&r.size, data + i + 4, 4);
        std::memcpy(&r.time, data + i + 8, 8);
        std::memcpy(&r.order, data + i + 16, 8);
        i += 24 + (r.size == 0xffffffff ? 0 : r.size);
        found.push_back(r);
    }
    return found;
}

TEST(Library, records_and_counters) {
    const uint8_t open = 1;
    char error[64] = "";
    void* handle = polysome_create(&open, 1, nullptr, 0, 1, 8, 0, error, sizeof error);
    ASSERT_NE(handle, nullptr) << error;
    const std::array<uint8_t, 20> sent = {'b', 2, 0, 7}, dropped = {'d'};
    const polysome_arrival arrivals[] = {
        {5, sent.data(), 20, 0, 0}, {6, dropped.data(), 2, 0, 0}, {7, sent.data(), 20, 3, 0}};
    EXPECT_EQ(polysome_arrive(handle, arrivals, 3), 0);
    EXPECT_EQ(sent[0], 'b');  // the caller's bytes stay
    const uint32_t none = 0xffffffff;
    EXPECT_EQ(records(handle),
              (std::vector<Record>{
                  {3, 0, 1, 5, 0}, {0, 1, 20, 5, 0}, {3, 0, none, 6, 1}, {2, 10, 0, 6, 1}, {2, 1, 0, 7, 2}}));
    EXPECT_EQ(polysome_advance(handle, 100), 0);
    EXPECT_EQ(polysome_finish(handle), 0);
    EXPECT_TRUE(records(handle).empty());
    EXPECT_EQ(polysome_counter(handle, "packets_in"), 3u);
    EXPECT_EQ(polysome_counter(handle, "sent"), 1u);
    EXPECT_EQ(polysome_counter(handle, "told to"), 1u);
    EXPECT_EQ(polysome_counter(handle, "no handler"), 1u);
    EXPECT_STREQ(polysome_reason(2), "short frame");
    EXPECT_STREQ(polysome_reason(999), "");
    polysome_destroy(handle);
}

TEST(Library, errors_are_told) {
    char error[64] = "";
    EXPECT_EQ(polysome_create(nullptr, 0, nullptr, 0, 1, 0, 0, error, sizeof error), nullptr);
    EXPECT_STREQ(error, "the config is malformed");
    const uint8_t open = 1;
    void* handle = polysome_create(&open, 1, nullptr, 0, 2, 0, 0, error, sizeof error);
    ASSERT_NE(handle, nullptr);
    EXPECT_EQ(polysome_counter(handle, "cores"), 2u);
    EXPECT_EQ(polysome_change_at(handle, 1, nullptr, 0), 0);
    EXPECT_EQ(polysome_advance(handle, 1), 1);
    EXPECT_STREQ(polysome_error(handle), "a config change is malformed");
    polysome_destroy(handle);
}

}  // namespace
}  // namespace polysome
