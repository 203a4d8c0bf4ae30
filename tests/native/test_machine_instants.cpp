// Packets of one instant: what is due happens before the first of them, and what is told in between before the next.
#include <gtest/gtest.h>

#include "nf/policies.hpp"
#include "tiny_nf.hpp"

using namespace polysome;
using Lines = std::vector<std::string>;

namespace {

struct Instants : ::testing::Test {
    tiny::Log log;
    Machine<tiny::Nf<Fifo>, tiny::Log> machine{log};

    Instants() { machine.nf().log = &log.lines; }

    /// A packet that does `what` with `n` and leaves by port a.
    void packet(uint64_t time, char what = 's', uint8_t n = 0) {
        std::array<uint8_t, 6> bytes = {static_cast<uint8_t>(what), 1, n};
        const Arrival arrival = {time, bytes.data(), bytes.size(), 0};
        machine.arrive({&arrival, 1});
    }
    void change(uint64_t time, uint8_t open) { machine.change_at(time, {&open, 1}); }
};

TEST_F(Instants, L2_3_what_is_due_comes_before_the_first_packet_and_once) {
    packet(10, 'k', 100);
    packet(110);
    packet(110);
    packet(111);
    EXPECT_EQ(log.lines, (Lines{"left 0 10 k 0", "end 110", "emitted 2 110 E none", "every0 110", "left 0 110 s 1",
                                "left 0 110 s 2", "left 0 111 s 3"}));
}

TEST_F(Instants, L8_3_a_change_told_between_packets_of_one_instant) {
    packet(10);
    packet(10);
    change(10, 0);
    packet(10);
    packet(10);
    change(10, 1);
    packet(10);
    EXPECT_EQ(log.lines, (Lines{"left 0 10 s 0", "left 0 10 s 1", "config 10", "dropped 2 10", "dropped 3 10",
                                "config 10", "left 0 10 s 4"}));
}

TEST_F(Instants, L8_3_a_change_that_was_told_for_an_instant_in_the_past) {
    packet(10);
    change(5, 0);
    packet(10);
    EXPECT_EQ(log.lines, (Lines{"left 0 10 s 0", "config 10", "dropped 1 10"}));
}

TEST_F(Instants, L2_1_time_does_not_run_back) {
    packet(10, 'k', 3);
    packet(9, 'k', 2);
    packet(8);
    packet(12);
    packet(13);
    EXPECT_EQ(log.lines, (Lines{"left 0 10 k 0", "left 0 10 k 1", "left 0 10 s 2", "end 12", "emitted 2 12 E none",
                                "left 0 12 s 3", "end 13", "emitted 2 13 E none", "left 0 13 s 4"}));
}

TEST_F(Instants, L2_3_what_is_due_after_time_was_moved_on) {
    packet(10, 'k', 40);
    machine.advance(49);
    packet(49);
    machine.advance(50);
    packet(50);
    EXPECT_EQ(log.lines, (Lines{"left 0 10 k 0", "left 0 49 s 1", "end 50", "emitted 2 50 E none", "left 0 50 s 2"}));
}

}  // namespace
