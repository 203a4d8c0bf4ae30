/// Queue pairs and servers that end and begin again; frames that are not for us; counters that add up.
#include <gtest/gtest.h>

#include <random>

#include "requester.hpp"

using namespace requester;

namespace {

/// `bytes`, changed, is dropped for that reason, and nothing happens.
void expect_drop(const Bytes& bytes, Drop why) {
    Bench bench;
    EXPECT_TRUE(bench.send(bytes).empty());
    EXPECT_EQ(bench.dropped(why), 1u) << DROP_NAMES[static_cast<size_t>(why)];
    EXPECT_EQ(bench.nic.counters().dropped(), 1u);
    EXPECT_EQ(bench.pair().state, State::ready);
    EXPECT_EQ(bench.pair().expected_psn, 0u);
    EXPECT_EQ(bench.memory(0, 4), Bytes(4, 0xff));
}

Frame good() {
    static const Bytes payload = pattern(4);
    Frame frame = request(Opcode::write_only, 0);
    frame.reth = {0, RKEY, 4};
    frame.payload = payload;
    return frame;
}

template <class Change>
Bytes but(Change&& change) {
    Frame frame = good();
    change(frame);
    return built(frame);
}

TEST(Drops, OneForEachReason) {
    Bytes bytes = built(good());
    expect_drop({}, Drop::truncated);
    expect_drop(Bytes(bytes.begin(), bytes.end() - 1), Drop::truncated);
    expect_drop(but([](Frame& f) { f.destination[5] ^= 1; }), Drop::wrong_mac);
    expect_drop(but([](Frame& f) { f.destination = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}; }), Drop::wrong_mac);
    expect_drop(but([](Frame& f) { f.destination_ip ^= 1; }), Drop::wrong_ip);
    expect_drop(but([](Frame& f) { f.source_ip ^= 1; }), Drop::wrong_source);
    expect_drop(but([](Frame& f) { f.bth.qpn ^= 1; }), Drop::unknown_qpn);
    expect_drop(but([](Frame& f) { f.bth.pkey = 0x7ffe; }), Drop::bad_pkey);
    expect_drop(but([](Frame& f) { f.bth.opcode = static_cast<Opcode>(0x2a); }), Drop::bad_opcode);
    expect_drop(but([](Frame& f) { f.bth.opcode = static_cast<Opcode>(0x81); }), Drop::bad_opcode);
    expect_drop(but([](Frame& f) { f.bth.opcode = Opcode::acknowledge; }), Drop::bad_opcode);
    expect_drop(but([](Frame& f) { f.bth.opcode = Opcode::read_response_middle; }), Drop::bad_opcode);
    expect_drop(but([](Frame& f) { f.bth.version = 1; }), Drop::bad_version);
    for (const size_t at : {BTH_AT + 11, EXTENSION_AT + 3, EXTENSION_AT + RETH_SIZE, bytes.size() - 1}) {
        Bytes bad = bytes;
        bad[at] ^= 0x10;
        expect_drop(bad, Drop::bad_icrc);
    }
    bytes[25] ^= 1;
    expect_drop(bytes, Drop::bad_checksum);
    bytes = built(good());
    bytes[37] ^= 1;
    expect_drop(resealed(bytes), Drop::not_roce);
    bytes = built(good());
    bytes[14] = 0x46;
    expect_drop(resealed(bytes), Drop::ip_options);
    bytes = built(good());
    bytes[20] = 0x20;
    expect_drop(resealed(bytes), Drop::fragment);
    bytes = built(good());
    bytes[39] ^= 4;
    expect_drop(resealed(bytes), Drop::bad_length);
}

TEST(Drops, TheSourceMacAndALimitedMemberAreFine) {
    Bench bench;
    EXPECT_EQ(bench.send(but([](Frame& f) { f.source[0] = 4, f.bth.pkey = 0x7fff; })).size(), 1u);
}

TEST(Drops, CongestionMarksAndHopsMayChangeOnTheWay) {
    Bytes bytes = built(good());
    bytes[15] = 3, bytes[22] = 9, bytes[BTH_AT + 4] = 0xc0;
    uint8_t* const ip = bytes.data() + ETHERNET_SIZE;
    store(ip + 10, uint16_t{0});
    store(ip + 10, checksum({ip, IPV4_SIZE}));
    Bench bench;
    EXPECT_TRUE(bench.send(bytes).at(0).is_ack());
}

TEST(Life, NumbersThatAreNoQueuePairs) {
    Responder nic(small_config());
    EXPECT_THROW(nic.add(0, PEER, 0), std::invalid_argument);
    EXPECT_THROW(nic.add(1, PEER, 0), std::invalid_argument);
    EXPECT_THROW(nic.add(0xffffff, PEER, 0), std::invalid_argument);
    EXPECT_EQ(nic.add(2, PEER, 0), 0u);
    EXPECT_EQ(nic.add(0xfffffe, PEER, 0), 1u);
    EXPECT_THROW(nic.add(2, PEER, 0), std::invalid_argument);
    EXPECT_THROW(nic.reset(1, 2, 0), std::invalid_argument);
    EXPECT_THROW(nic.reset(1, 0xfffffe, 0), std::invalid_argument) << "late frames for it would be taken for new ones";
    EXPECT_EQ(nic.size(), 2u);
}

TEST(Life, QueuePairsAnswerFromPortsOfTheirOwn) {
    QueuePair one, other, far;
    one.qpn = 2, other.qpn = 3, far.qpn = 2 | 1 << 14;
    EXPECT_EQ(one.source_port(), 0xc002);
    EXPECT_EQ(other.source_port(), 0xc003);
    EXPECT_EQ(far.source_port(), 0xc003);
    Bench bench;
    EXPECT_EQ(bench.send(write_only(0, {})).at(0).frame.source_port, bench.pair().source_port());
}

TEST(Life, MtusOfTheSpecificationOnly) {
    for (const uint32_t mtu : {0u, 128u, 257u, 1500u, 8192u}) {
        Config config = small_config();
        config.mtu = mtu;
        EXPECT_THROW(Responder{config}, std::invalid_argument) << mtu;
    }
}

TEST(Life, ResetMakesAQueuePairNew) {
    Bench bench;
    bench.send(write_only(0, {}));
    bench.send(write_only(5, {}));
    bench.send(built(request(Opcode::send_only, 1)));
    ASSERT_EQ(bench.pair().state, State::error);
    bench.nic.reset(0, QPN + 7, 0xfffff0);
    EXPECT_TRUE(bench.send(write_only(1, {})).empty());
    EXPECT_EQ(bench.dropped(Drop::unknown_qpn), 1u) << "the old number";
    Frame frame = good();
    frame.bth.qpn = QPN + 7;
    frame.bth.psn = 0xfffff1;
    EXPECT_EQ(bench.send(built(frame)).at(0).nak(), Nak::sequence_error) << "the silence is over";
    frame.bth.psn = 0xfffff0;
    const auto seen = bench.send(built(frame));
    EXPECT_TRUE(seen.at(0).is_ack());
    EXPECT_EQ(seen.at(0).frame.aeth.msn, 1u);
    EXPECT_EQ(seen.at(0).frame.bth.qpn, PEER_QPN);
}

TEST(Life, ResetForgetsWhatWaitedOnThatQueuePairOnly) {
    Config config = small_config();
    config.read_time = 100;
    Bench bench(config);
    bench.nic.add(QPN + 1, {SWITCH_MAC, SWITCH_IP, PEER_QPN + 1}, 0);
    bench.send(read_request(0, 0, 4), 0);
    Frame other = request(Opcode::read_request, 0);
    other.bth.qpn = QPN + 1;
    other.reth = {0, RKEY, 4};
    bench.send(built(other), 50);
    bench.nic.reset(0, QPN + 2, 0);
    EXPECT_EQ(bench.nic.next(), 150u);
    EXPECT_EQ(bench.pair().reads, 0u);
    const auto seen = bench.advance(1000);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].frame.bth.qpn, PEER_QPN + 1);
    Frame again = request(Opcode::read_request, 0);
    again.bth.qpn = QPN + 2;
    again.reth = {0, RKEY, 4};
    bench.send(built(again), 60);
    EXPECT_EQ(bench.nic.next(), 160u) << "the old READ's time is not waited for";
}

TEST(Life, ResetInTheMiddleOfAWrite) {
    Bench bench;
    bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 512, false));
    bench.nic.reset(0, QPN + 1, 1);
    Frame last = request(Opcode::write_last, 1);
    last.bth.qpn = QPN + 1;
    const Bytes payload = pattern(256);
    last.payload = payload;
    EXPECT_EQ(bench.send(built(last)).at(0).nak(), Nak::invalid_request);
}

TEST(Life, ResetMendsANicThatFails) {
    Bench bench;
    bench.nic.fail(0);
    bench.nic.reset(0, QPN + 1, 0);
    Frame frame = good();
    frame.bth.qpn = QPN + 1;
    EXPECT_TRUE(bench.send(built(frame)).at(0).is_ack());
}

TEST(Life, ADeadServerIsSilentAndForgets) {
    Config config = small_config();
    config.read_time = 100;
    Bench bench(config);
    bench.send(write_only(0, pattern(4)), 0);
    bench.send(read_request(1, 0, 4), 0);
    bench.nic.kill();
    EXPECT_FALSE(bench.nic.alive());
    EXPECT_EQ(bench.nic.next(), NEVER);
    EXPECT_EQ(bench.pair().reads, 0u);
    EXPECT_TRUE(bench.pair().waiting.empty());
    EXPECT_TRUE(bench.advance(1000).empty());
    EXPECT_TRUE(bench.send(write_only(2, pattern(4, 1)), 1000).empty());
    EXPECT_EQ(bench.dropped(Drop::dead), 1u);
    bench.nic.revive();
    EXPECT_TRUE(bench.nic.alive());
    EXPECT_EQ(bench.memory(0, 8192), Bytes(8192, 0xff));
    EXPECT_EQ(bench.pair().state, State::reset);
    EXPECT_TRUE(bench.send(write_only(2, {}), 1000).empty());
    EXPECT_EQ(bench.dropped(Drop::not_ready), 1u);
    bench.nic.reset(0, QPN + 1, 9);
    Frame frame = good();
    frame.bth.qpn = QPN + 1;
    frame.bth.psn = 9;
    EXPECT_TRUE(bench.send(built(frame), 1000).at(0).is_ack());
    EXPECT_TRUE(bench.advance(NEVER - 1).empty());
}

TEST(Life, SilencedPairsKeepTheMemoryAndForgetWhatWaits) {
    Config config = small_config();
    config.read_time = 100;
    Bench bench(config);
    bench.send(write_only(0, pattern(4)), 0);
    bench.send(read_request(1, 0, 4), 0);
    bench.nic.silence();
    EXPECT_TRUE(bench.nic.alive());
    EXPECT_EQ(bench.pair().state, State::reset);
    EXPECT_TRUE(bench.advance(1000).empty());
    EXPECT_TRUE(bench.send(write_only(2, pattern(4, 1)), 1000).empty());
    EXPECT_EQ(bench.dropped(Drop::not_ready), 1u);
    EXPECT_EQ(bench.memory(0, 4), pattern(4));
    bench.nic.reset(0, QPN + 1, 9);
    Frame frame = good();
    frame.bth.qpn = QPN + 1;
    frame.bth.psn = 9;
    EXPECT_TRUE(bench.send(built(frame), 1000).at(0).is_ack());
}

/// A requester that mostly keeps to the rules, and a link that does not.
TEST(Counters, AddUp) {
    std::mt19937 random(7);
    const auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    Config config = small_config();
    config.read_time = 300;
    Bench bench(config);
    uint64_t sent = 0, received = 0;
    for (uint64_t now = 0; now < 400'000; now += 40) {
        const QueuePair& qp = bench.pair();
        if (qp.state != State::ready) bench.nic.reset(0, 2 + below(0xfffff0), below(1 << 24));
        Frame frame = good();
        frame.bth.qpn = qp.qpn;
        frame.bth.psn = (qp.expected_psn + (below(4) == 0 ? below(9) - 4 : 0)) & PSN_MASK;
        frame.bth.ack_request = below(2) == 0;
        if (below(3) == 0) frame.bth.opcode = Opcode::read_request, frame.payload = {}, frame.reth.length = below(700);
        if (below(40) == 0) frame.bth.opcode = static_cast<Opcode>(below(256));
        Bytes bytes = built(frame);
        if (below(10) == 0) bytes[below(static_cast<uint32_t>(bytes.size()))] ^= static_cast<uint8_t>(1 << below(8));
        ++received;
        sent += bench.send(bytes, now).size();
    }
    sent += bench.advance(NEVER - 1).size();
    const Counters& c = bench.nic.counters();
    EXPECT_EQ(c.received, received);
    EXPECT_EQ(c.received, c.requests + c.repeated + c.refused + c.dropped());
    EXPECT_EQ(c.sent, sent);
    EXPECT_EQ(c.sent, c.responses + c.acks + std::accumulate(c.naks.begin(), c.naks.end(), uint64_t{0}));
    EXPECT_LE(c.nak(Nak::sequence_error) + c.nak(Nak::invalid_request), c.refused) << "some were lost in a reset";
    for (const uint64_t some : {c.requests, c.repeated, c.refused, c.dropped(Drop::bad_icrc), c.responses, c.acks,
                                c.dropped(Drop::out_of_sequence), c.nak(Nak::sequence_error)}) {
        EXPECT_GT(some, 10u);
    }
}

}  // namespace
