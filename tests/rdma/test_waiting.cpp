/// READs take time: what waits, in which order it leaves, and how many READs may wait.
#include <gtest/gtest.h>

#include <random>

#include "requester.hpp"

using namespace requester;

namespace {

Config slow_config(uint64_t read_time = 1000) {
    Config config = small_config();
    config.read_time = read_time;
    return config;
}

/// Four bytes take 1000 ns, and every READ 1000 ns more.
Config slow_rate() {
    Config config = slow_config();
    config.read_rate = 4'000'000;
    return config;
}

TEST(Waiting, AReadIsDueAfterItsTime) {
    Bench bench(slow_config());
    EXPECT_EQ(bench.nic.next(), NEVER);
    EXPECT_TRUE(bench.send(read_request(0, 0, 600), 500).empty());
    EXPECT_EQ(bench.nic.next(), 1500u);
    EXPECT_EQ(bench.pair().reads, 1u);
    EXPECT_TRUE(bench.advance(1499).empty());
    EXPECT_EQ(bench.advance(1500).size(), 3u);
    EXPECT_EQ(bench.nic.next(), NEVER);
    EXPECT_EQ(bench.pair().reads, 0u);
}

TEST(Waiting, AReadTakesTheTimeOfItsBytes) {
    Config config = slow_config(10);
    config.read_rate = 1'000'000'000;
    Bench bench(config);
    bench.send(read_request(0, 0, 300), 5);
    EXPECT_EQ(bench.nic.next(), 5u + 10 + 300);
    config.read_rate = 3'000'000'000;
    Bench faster(config);
    faster.send(read_request(0, 0, 8192), 0);
    EXPECT_EQ(faster.nic.next(), 10u + 2730);
}

TEST(Waiting, ReadsOfAQueuePairGoOneAfterTheOther) {
    Bench bench(slow_rate());
    bench.send(read_request(0, 0, 4), 0);
    bench.send(read_request(1, 0, 4), 100);
    EXPECT_EQ(bench.nic.next(), 2000u);
    const auto first = bench.advance(2999);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].frame.bth.psn, 0u);
    EXPECT_EQ(bench.nic.next(), 3000u);
    EXPECT_EQ(bench.advance(3000).at(0).frame.bth.psn, 1u);
    bench.send(read_request(2, 0, 4), 5000);
    EXPECT_EQ(bench.nic.next(), 7000u) << "idle time is not saved up";
}

TEST(Waiting, ReadsOfAQueuePairOverlap) {
    Bench bench(slow_config());
    for (uint32_t psn = 0; psn < 16; ++psn) bench.send(read_request(psn, 0, 4), psn);
    EXPECT_EQ(bench.advance(1000).size(), 1u);
    EXPECT_EQ(bench.advance(1015).size(), 15u);
}

TEST(Waiting, QueuePairsDoNotWaitForEachOther) {
    Bench bench(slow_config());
    bench.nic.add(QPN + 1, {SWITCH_MAC, SWITCH_IP, PEER_QPN + 1}, 0);
    Frame other = request(Opcode::read_request, 0);
    other.bth.qpn = QPN + 1;
    other.reth = {0, RKEY, 4};
    bench.send(built(other), 10);
    bench.send(read_request(0, 0, 4), 20);
    EXPECT_EQ(bench.nic.next(), 1010u);
    const auto seen = bench.advance(2000);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].frame.bth.qpn, PEER_QPN + 1);
    EXPECT_EQ(seen[1].frame.bth.qpn, PEER_QPN);
}

TEST(Waiting, LateAnswersLeaveByTimeOverAllQueuePairs) {
    Bench bench(slow_rate());
    bench.nic.add(QPN + 1, {SWITCH_MAC, SWITCH_IP, PEER_QPN + 1}, 0);
    for (uint32_t psn = 0; psn < 2; ++psn) {
        bench.send(read_request(psn, 0, 4), psn);
        Frame other = request(Opcode::read_request, psn);
        other.bth.qpn = QPN + 1;
        other.reth = {0, RKEY, 4};
        bench.send(built(other), psn + 10);
    }
    std::vector<uint32_t> order;
    for (const Seen& seen : bench.advance(9999)) order.push_back(seen.frame.bth.psn * 2 + (seen.frame.bth.qpn & 1));
    EXPECT_EQ(order, (std::vector<uint32_t>{1, 0, 3, 2})) << "due at 2000, 2010, 3000, 3010";
}

TEST(Waiting, AWriteAfterAReadDoesNotChangeWhatItReads) {
    Bench bench(slow_config());
    bench.send(write_only(0, pattern(8, 1)), 0);
    bench.send(read_request(1, 0, 8), 0);
    EXPECT_TRUE(bench.send(write_only(2, pattern(8, 2)), 10).empty()) << "its ACK waits behind the READ";
    bench.send(read_request(3, 0, 8), 20);
    EXPECT_EQ(bench.memory(0, 8), pattern(8, 2));
    const auto first = bench.advance(1000);
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(first[0].payload(), pattern(8, 1));
    EXPECT_EQ(first[0].frame.aeth.msn, 2u);
    EXPECT_TRUE(first[1].is_ack());
    EXPECT_EQ(first[1].frame.bth.psn, 2u);
    EXPECT_EQ(first[1].frame.aeth.msn, 3u);
    EXPECT_EQ(bench.advance(2000).at(0).payload(), pattern(8, 2));
}

TEST(Waiting, WaitingDataIsNotMixedUp) {
    Bench bench(slow_config());
    uint32_t psn = 0;
    for (uint32_t round = 0; round < 5; ++round) {
        const uint64_t now = round * 100'000;
        for (uint32_t i = 0; i < 16; ++i) bench.send(write_only(psn++, pattern(64, round * 16 + i), i * 64), now);
        for (uint32_t i = 0; i < 16; ++i) bench.send(read_request(psn++, i * 64, 4 * i), now);
        const auto seen = bench.advance(now + 16'000);
        ASSERT_EQ(seen.size(), 16u);
        for (uint32_t i = 0; i < 16; ++i) {
            const Bytes whole = pattern(64, round * 16 + i);
            EXPECT_EQ(seen[i].payload(), Bytes(whole.begin(), whole.begin() + 4 * i));
        }
    }
}

TEST(Waiting, ReceivingEmitsFirstWhatIsDue) {
    Bench bench(slow_config());
    bench.send(read_request(0, 0, 4), 0);
    const auto seen = bench.send(write_only(1, {}), 1000);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].frame.bth.opcode, Opcode::read_response_only);
    EXPECT_TRUE(seen[1].is_ack());
}

TEST(Waiting, SixteenReadsMayWaitTheSeventeenthKills) {
    Bench bench(slow_config());
    for (uint32_t psn = 0; psn < 16; ++psn) EXPECT_TRUE(bench.send(read_request(psn, 0, 4), 0).empty());
    EXPECT_EQ(bench.pair().reads, 16u);
    EXPECT_TRUE(bench.send(read_request(16, 0, 4), 999).empty());
    EXPECT_EQ(bench.pair().state, State::error);
    const auto seen = bench.advance(16'000);
    ASSERT_EQ(seen.size(), 17u);
    for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(seen[i].frame.bth.opcode, Opcode::read_response_only);
    EXPECT_EQ(seen[16].nak(), Nak::invalid_request) << "after what it implicitly acknowledges";
    EXPECT_EQ(seen[16].frame.bth.psn, 16u);
    EXPECT_EQ(seen[16].frame.aeth.msn, 16u);
    EXPECT_TRUE(bench.send(read_request(16, 0, 4), 20'000).empty());
}

TEST(Waiting, AnAnsweredReadMakesRoom) {
    Bench bench(slow_config());
    for (uint32_t psn = 0; psn < 16; ++psn) bench.send(read_request(psn, 0, 4), psn);
    EXPECT_EQ(bench.send(read_request(16, 0, 4), 1000).size(), 1u);
    EXPECT_EQ(bench.pair().state, State::ready);
    EXPECT_EQ(bench.pair().reads, 16u);
}

TEST(Waiting, AnotherLimitOfReads) {
    Config config = slow_config();
    config.max_reads = 2;
    Bench bench(config);
    bench.send(read_request(0, 0, 4));
    bench.send(read_request(1, 0, 4));
    EXPECT_TRUE(bench.send(read_request(0, 0, 4)).empty());
    EXPECT_EQ(bench.dropped(Drop::bad_duplicate), 1u) << "a repeated one counts, and is not worth a queue pair";
    EXPECT_EQ(bench.pair().state, State::ready);
    bench.send(read_request(2, 0, 4));
    EXPECT_EQ(bench.pair().state, State::error);
}

TEST(Waiting, NextIsTheLeastWhateverIsReset) {
    constexpr uint32_t pairs = 20;
    std::mt19937 random(3);
    Responder nic(slow_config());
    for (uint32_t i = 0; i < pairs; ++i) nic.add(100 + i, PEER, 0);
    uint64_t now = 0, answers = 0;
    uint32_t fresh = 1000;
    const auto emit = [&answers](std::span<const uint8_t>) { ++answers; };
    for (uint32_t round = 0; round < 2000; ++round, now += random() % 100) {
        const uint32_t i = static_cast<uint32_t>(random() % pairs);
        if (round % 3 == 0) {
            nic.reset(i, fresh++, 0);
        } else if (nic.pair(i).reads < 16) {
            Frame frame = request(Opcode::read_request, nic.pair(i).expected_psn);
            frame.bth.qpn = nic.pair(i).qpn;
            frame.reth = {0, RKEY, 4};
            nic.receive(built(frame), now, emit);
        }
        uint64_t least = NEVER;
        for (uint32_t j = 0; j < pairs; ++j) {
            if (!nic.pair(j).waiting.empty()) least = std::min(least, nic.pair(j).waiting.front().due);
        }
        ASSERT_EQ(nic.next(), least) << round;
    }
    EXPECT_GT(answers, 100u);
}

TEST(Waiting, ASequenceNakWaitsForItsTurn) {
    Bench bench(slow_config());
    bench.send(read_request(0, 0, 4), 0);
    EXPECT_TRUE(bench.send(write_only(5, {}), 1).empty());
    EXPECT_EQ(bench.pair().waiting.back().due, 1000u);
    const auto seen = bench.advance(1000);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1].nak(), Nak::sequence_error);
    EXPECT_EQ(seen[1].frame.bth.psn, 1u);
}

}  // namespace
