/// Packet and message sequence numbers: the window, duplicates, gaps, what wraps.
#include <gtest/gtest.h>

#include "requester.hpp"

using namespace requester;

namespace {

TEST(Sequence, HalfOfTheNumbersAreBehind) {
    for (const uint32_t expected : {0u, 1u, 5u, 0x7fffffu, 0x800000u, 0xffffffu}) {
        const auto at = [expected](int64_t ahead) {
            return arrival(static_cast<uint32_t>(expected + ahead) & PSN_MASK, expected);
        };
        EXPECT_EQ(at(0), Arrival::expected);
        EXPECT_EQ(at(1), Arrival::future);
        EXPECT_EQ(at(0x7fffff), Arrival::future);
        EXPECT_EQ(at(-1), Arrival::duplicate);
        EXPECT_EQ(at(-0x800000), Arrival::duplicate) << "2^23 before, the oldest";
        EXPECT_EQ(at(0x800000), Arrival::duplicate) << "the same number";
    }
}

TEST(Sequence, PacketNumbersWrap) {
    Bench bench(small_config(), 0xfffffe);
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t psn = (0xfffffe + i) & PSN_MASK;
        const auto seen = bench.send(write_only(psn, pattern(4, i), 4 * i));
        ASSERT_EQ(seen.size(), 1u);
        EXPECT_TRUE(seen[0].is_ack());
        EXPECT_EQ(seen[0].frame.bth.psn, psn);
        EXPECT_EQ(seen[0].frame.aeth.msn, i + 1);
        EXPECT_EQ(seen[0].frame.aeth.syndrome, 0x1f);
        EXPECT_EQ(seen[0].frame.bth.qpn, PEER_QPN);
    }
    EXPECT_EQ(bench.pair().expected_psn, 2u);
}

TEST(Sequence, AReadTakesAsManyNumbersAsResponsesAcrossTheWrap) {
    Bench bench(small_config(), 0xffffff);
    const auto seen = bench.send(read_request(0xffffff, 0, 3 * 256));
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0].frame.bth.psn, 0xffffffu);
    EXPECT_EQ(seen[1].frame.bth.psn, 0u);
    EXPECT_EQ(seen[2].frame.bth.psn, 1u);
    EXPECT_EQ(bench.pair().expected_psn, 2u);
    EXPECT_EQ(bench.send(read_request(2, 0, 1)).size(), 1u);
}

TEST(Sequence, MessageNumbersWrap) {
    QueuePair qp;
    qp.msn = 0xfffffe;
    qp.complete();
    EXPECT_EQ(qp.msn, 0xffffffu);
    qp.complete();
    EXPECT_EQ(qp.msn, 0u);
    qp.expect(0x1000000);
    EXPECT_EQ(qp.expected_psn, 0u);
}

TEST(Sequence, OneNakForAGapThenSilenceUntilTheExpectedOne) {
    Bench bench(small_config(), 10);
    bench.send(write_only(10, pattern(4)));
    const auto nak = bench.send(write_only(12, pattern(4, 1), 64));
    ASSERT_EQ(nak.size(), 1u);
    EXPECT_EQ(nak[0].nak(), Nak::sequence_error);
    EXPECT_EQ(nak[0].frame.bth.psn, 11u) << "the expected one";
    EXPECT_EQ(nak[0].frame.aeth.msn, 1u);
    EXPECT_TRUE(bench.send(write_only(13, pattern(4, 2), 64)).empty());
    EXPECT_TRUE(bench.send(read_request(14, 0, 4)).empty());
    EXPECT_EQ(bench.memory(64, 4), Bytes(4, 0xff)) << "nothing beyond the gap is executed";
    EXPECT_EQ(bench.dropped(Drop::out_of_sequence), 2u);
    EXPECT_EQ(bench.pair().state, State::ready) << "no harm done";
    EXPECT_TRUE(bench.send(write_only(11, pattern(4, 3), 64)).at(0).is_ack());
    EXPECT_EQ(bench.memory(64, 4), pattern(4, 3));
    EXPECT_EQ(bench.send(write_only(13, {})).at(0).nak(), Nak::sequence_error) << "a new gap, a new NAK";
    EXPECT_EQ(bench.nic.counters().nak(Nak::sequence_error), 2u);
    EXPECT_EQ(bench.nic.counters().refused, 2u);
}

TEST(Sequence, DuplicatesDoNotEndTheSilence) {
    Bench bench;
    bench.send(write_only(0, pattern(4)));
    EXPECT_EQ(bench.send(write_only(2, {})).size(), 1u);
    EXPECT_TRUE(bench.send(write_only(0, pattern(4))).at(0).is_ack());
    EXPECT_TRUE(bench.send(write_only(3, {})).empty());
}

TEST(Sequence, ARepeatedWriteIsAcknowledgedNotExecuted) {
    Bench bench;
    bench.send(write_only(0, pattern(4, 1)));
    bench.send(write_only(1, pattern(4, 2)));
    const auto seen = bench.send(write_only(0, pattern(4, 1)));
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_TRUE(seen[0].is_ack());
    EXPECT_EQ(seen[0].frame.bth.psn, 1u) << "all that was";
    EXPECT_EQ(seen[0].frame.aeth.msn, 2u);
    EXPECT_EQ(bench.memory(0, 4), pattern(4, 2));
    EXPECT_EQ(bench.nic.counters().repeated, 1u);
    EXPECT_EQ(bench.nic.counters().writes, 2u);
    EXPECT_EQ(bench.pair().expected_psn, 2u);
}

TEST(Sequence, ARepeatedWriteMayBeAnyOfItsPackets) {
    Bench bench;
    bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 260, false));
    EXPECT_TRUE(bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 260, false)).at(0).is_ack());
    EXPECT_TRUE(bench.send(write_request(Opcode::write_last, 1, pattern(4, 5))).at(0).is_ack());
    EXPECT_EQ(bench.memory(256, 4), pattern(4, 5)) << "the repeated first packet did not start it again";
}

TEST(Sequence, ARepeatedReadIsExecutedAgain) {
    Bench bench;
    bench.send(write_only(0, pattern(600 - 344, 1), 100));
    const auto first = bench.send(read_request(1, 100, 300));
    bench.send(write_only(3, pattern(8, 9), 100));
    const auto again = bench.send(read_request(1, 100, 300));
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(again[0].frame.bth.psn, 1u);
    EXPECT_EQ(again[1].frame.bth.psn, 2u);
    EXPECT_EQ(again[0].payload(), bench.memory(100, 256)) << "what memory holds now";
    EXPECT_NE(again[0].payload(), first.at(0).payload());
    EXPECT_EQ(again[0].frame.aeth.msn, 3u);
    EXPECT_EQ(bench.pair().expected_psn, 4u);
    EXPECT_EQ(bench.nic.counters().repeated, 1u);
    EXPECT_EQ(bench.nic.counters().reads, 1u);
}

TEST(Sequence, ARepeatedReadThatCannotHaveBeenIsDropped) {
    Bench bench;
    bench.send(write_only(0, pattern(4)));
    bench.send(read_request(1, 0, 512));
    EXPECT_EQ(bench.send(read_request(1, 0, 512)).size(), 2u);
    EXPECT_TRUE(bench.send(read_request(1, 0, 513)).empty()) << "its third response has a number not used yet";
    EXPECT_TRUE(bench.send(read_request(1, 8192, 1)).empty()) << "outside of the region";
    EXPECT_TRUE(bench.send(read_request(1, 0, 1, RKEY + 1)).empty());
    EXPECT_TRUE(bench.send(built(request(Opcode::send_only, 0))).empty()) << "no request that was ever executed";
    EXPECT_EQ(bench.dropped(Drop::bad_duplicate), 4u);
    EXPECT_EQ(bench.pair().state, State::ready);
}

TEST(Sequence, TheOldestDuplicateIsAnsweredTheNextIsAGap) {
    Bench bench(small_config(), 0x900000);
    EXPECT_TRUE(bench.send(write_only(0x100000, {})).at(0).is_ack());
    EXPECT_EQ(bench.send(write_only(0x0fffff, {})).at(0).nak(), Nak::sequence_error);
}

}  // namespace
