// The system around a switch, with the protocol by hand for a switch and a tiny NF: what happens to packets without
// faults.
#include <gtest/gtest.h>

#include "runs.hpp"
#include "system/report.hpp"
#include "system/system.hpp"

namespace {

using namespace polysome;
using namespace polysome::system;
using namespace polysome::system::model;

constexpr Time start = 1'700'000'000'000'000'000;

TEST(System, ASplitPacketComesBackWholeWithItsEdit) {
    Trial run(usual());
    const Bytes sent = packet('b', 1 << 2, 300);
    run.system.arrive(start, 0, sent);
    run.finish();
    Bytes expected = sent;
    expected[0] = '!';
    const auto left = run.of(Record::left);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].port, 2);
    EXPECT_EQ(left[0].bytes, expected);
    EXPECT_EQ(left[0].packet, 0u);
    EXPECT_EQ(left[0].number, 0u);
    EXPECT_EQ(run.system.device().counters["merged"], 1u);
    EXPECT_EQ(run.system.link("nf out").counters().sent[static_cast<size_t>(Kind::fields)].bytes, 60u);
    EXPECT_EQ(run.system.link("server0 out").counters().sent[static_cast<size_t>(Kind::write)].frames, 1u);
    EXPECT_EQ(run.system.link("server0 in").counters().sent[static_cast<size_t>(Kind::response)].frames, 1u);
}

TEST(System, EachStepTakesItsTime) {
    SystemConfig config = usual();
    for (CableConfig& cable : config.traffic) cable.out.rate = 0;
    config.nf_cable.out.rate = config.nf_cable.in.rate = 0;
    for (ServerConfig& server : config.servers) server.cable.out.rate = server.cable.in.rate = 0;
    config.nf.frame_time = 70;
    Trial run(config);
    run.system.arrive(start, 0, packet('s', 2, 300));
    run.finish();
    const auto decided = run.of(Record::decided), left = run.of(Record::left);
    ASSERT_EQ(decided.size(), 1u);
    EXPECT_EQ(decided[0].time, start + 100 + 500) << "two links";
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].time, start + 600 + 70 + 500 + 300 + 1000 + 300 + 100) << "NF, link, server, READ, server, link";
}

TEST(System, AShortPacketGoesWholeAndBack) {
    Trial run(usual());
    const Bytes sent = packet('b', 2, 90);
    run.system.arrive(start, 1, sent);
    run.finish();
    const auto left = run.of(Record::left);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].bytes[0], '!');
    EXPECT_EQ(run.of(Record::decided).at(0).port, 1);
    EXPECT_EQ(run.system.link("nf in").counters().sent[static_cast<size_t>(Kind::whole)].bytes, 26u + 90);
    EXPECT_EQ(run.system.device().counters["whole"], 1u);
}

TEST(System, ASetOfPortsIsOneDecisionAndACopyForEach) {
    Trial run(usual());
    run.system.arrive(start, 0, packet('s', 1 | 2 | 4, 300));
    run.system.arrive(start + 1, 0, packet('s', 1 | 4, 70));
    run.finish();
    std::multiset<std::pair<uint64_t, uint16_t>> copies;
    for (const Told& record : run.of(Record::left)) copies.insert({record.packet, record.port});
    EXPECT_EQ(copies, (std::multiset<std::pair<uint64_t, uint16_t>>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}}));
    EXPECT_EQ(run.system.ledger().decisions(), 2u);
    EXPECT_EQ(run.system.ledger().copies(0), 3u);
}

TEST(System, ADropIsTheNfsAndCostsNoRead) {
    Trial run(usual());
    run.system.arrive(start, 0, packet('d', 2, 300));
    run.finish();
    EXPECT_TRUE(run.of(Record::left).empty());
    ASSERT_EQ(run.of(Record::dropped).size(), 1u);
    EXPECT_EQ(run.of(Record::dropped)[0].port, 10) << "the reason";
    EXPECT_EQ(run.of(Record::dropped)[0].packet, 0u);
    EXPECT_EQ(run.system.ledger().fate(0), Fate::dropped);
    EXPECT_EQ(run.system.server(0).nic().counters().reads, 0u);
}

TEST(System, WhatTheNfMakesLeavesAndIsToldApart) {
    Trial run(usual());
    Bytes sent = packet('e', 4, 300);
    sent[2] = 'm';
    run.system.arrive(start, 0, sent);
    run.finish();
    const auto made = run.of(Record::made), own = run.of(Record::own_left);
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].bytes, Bytes{'m'});
    EXPECT_EQ(made[0].port, 1);
    EXPECT_EQ(made[0].packet, 0u) << "the decision that caused it";
    ASSERT_EQ(own.size(), 1u);
    EXPECT_EQ(own[0].port, 1);
    EXPECT_EQ(own[0].number, made[0].number);
    EXPECT_EQ(own[0].bytes[0], 'm');
    EXPECT_EQ(run.of(Record::left).size(), 1u);
    EXPECT_EQ(run.system.nf().made(), 1u);
}

TEST(System, AnEntryThatEndsWithoutAPacketDoesSoOnTime) {
    Trial run(usual());
    Bytes keeps = packet('k', 2, 300);
    keeps[2] = 200;  // ns; then the NF makes a packet
    run.system.arrive(start, 0, keeps);
    run.system.arrive(start + 5000, 0, packet('s', 2, 300));
    run.finish();
    const auto decided = run.of(Record::decided), made = run.of(Record::made), own = run.of(Record::own_left);
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].time, decided.at(0).time + 200);
    ASSERT_EQ(own.size(), 1u);
    EXPECT_LT(own[0].time, start + 5000);
    EXPECT_EQ(made[0].packet, no_number);
}

TEST(System, AHeldPacketLeavesOnTimeAndTheLastOnesStayHeld) {
    tiny::settings().serve = 8'000'000;  // a byte per us
    Trial<ServedFifo> run(usual());
    for (Time i = 0; i < 5; ++i) run.system.arrive(start + i * 50'000, 0, packet('s', 2, 90));
    run.system.arrive(start + 1'000'000, 0, packet('s', 2, 90));
    run.system.arrive(start + 1'000'000, 0, packet('s', 2, 90));
    run.finish();
    tiny::settings() = {};
    const auto left = run.of(Record::left);
    ASSERT_EQ(left.size(), 6u);
    EXPECT_LT(left[0].time, start + 50'000) << "it does not wait for the next packet";
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(left[i + 1].time - left[i].time, 90'000u);
    EXPECT_EQ(run.system.nf().held(), 1u);
    ASSERT_EQ(run.of(Record::held).size(), 1u) << "the trace ended before it was sent";
    EXPECT_EQ(run.of(Record::held)[0].packet, 6u);
    EXPECT_EQ(run.system.ledger().fate(6), Fate::held);
}

TEST(System, FramesThatWaitAreDecidedInBursts) {
    SystemConfig config = usual();
    config.nf.frame_time = 1000;
    config.nf.burst = 4;
    Trial run(config);
    for (Time i = 0; i < 21; ++i) run.system.arrive(start + i * 10, 0, packet('s', 2, 300));
    run.finish();
    EXPECT_EQ(run.system.nf().bursts(), 6u) << "one frame, then 4 at a time";
    const auto decided = run.of(Record::decided);
    ASSERT_EQ(decided.size(), 21u);
    EXPECT_EQ(decided[1].time, decided[4].time);
    EXPECT_EQ(decided[5].time, decided[1].time + 4000);
    for (size_t i = 0; i < decided.size(); ++i) EXPECT_EQ(decided[i].number, i);
}

TEST(System, TrafficOfServersHostsPasses) {
    Trial run(usual());
    Bytes hello(80, 0x11);
    const rdma::Mac to = server_mac(1);
    std::copy(to.begin(), to.end(), hello.begin());
    run.system.arrive(start, System<Switch, Trial<>::Nf>::at_server | 0, hello);
    run.finish();
    const auto host = run.of(Record::host);
    ASSERT_EQ(host.size(), 1u);
    EXPECT_EQ(host[0].port, 1);
    EXPECT_EQ(host[0].bytes, hello);
    EXPECT_EQ(host[0].packet, 0u);
    EXPECT_EQ(run.system.ledger().fate(0), Fate::left);
    EXPECT_EQ(run.system.server(1).nic().counters().received, 0u);
}

TEST(System, AGapOfHoursCostsNoSweepsAndTheClocksGoOnAfterIt) {
    Trial run(usual());
    constexpr Time hours = 5'000'000'000'000;
    run.system.arrive(start, 0, packet('s', 2, 300));
    run.system.arrive(start + hours, 0, packet('s', 2, 300));
    const uint64_t before = run.system.sweeps();
    EXPECT_GT(before, 4u);
    EXPECT_LT(before, 30u);
    run.system.arrive(start + hours + 10'000'000, 0, packet('s', 2, 300));
    EXPECT_GT(run.system.sweeps(), before + 4);
    run.finish();
    EXPECT_EQ(run.of(Record::left).size(), 3u);
}

TEST(System, TimesThatRunBackAreNow) {
    Trial run(usual());
    run.system.arrive(start + 5000, 0, packet('s', 2, 300));
    run.system.arrive(start, 0, packet('s', 2, 300));
    run.finish();
    EXPECT_EQ(run.of(Record::left).size(), 2u);
    EXPECT_GE(run.of(Record::decided).at(1).time, start + 5000);
}

TEST(System, TheEndTellsTheNfsTime) {
    Trial run(usual());
    run.system.arrive(start, 0, packet('s', 2, 300));
    run.finish();
    ASSERT_EQ(run.records.back().kind, Record::end);
    EXPECT_EQ(run.records.back().time, run.of(Record::decided).at(0).time);
}

TEST(System, ARunEndsEvenIfTheNfIsStuckForGood) {
    SystemConfig config = usual();
    config.nf.stuck = {{0, never}};
    config.drain = 10'000'000;
    Trial run(config);
    run.system.arrive(start, 0, packet('s', 2, 300));
    run.finish();
    ASSERT_EQ(run.of(Record::lost).size(), 1u);
    EXPECT_EQ(run.system.ledger().name(run.of(Record::lost)[0].port), "on the way at the end");
}

TEST(System, APortWithTwoCablesIsRefused) {
    SystemConfig config = usual();
    config.servers[1].cable.port = 32;
    EXPECT_THROW(Trial<>{config}, std::invalid_argument);
}

}  // namespace
