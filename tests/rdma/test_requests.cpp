/// WRITEs and READs: what they do to memory, their forms, and the NAK of every form that is wrong.
#include <gtest/gtest.h>

#include "requester.hpp"

using namespace requester;

namespace {

/// The NAK, and that the queue pair is then silent for good.
void expect_fatal(Bench& bench, const Bytes& bad, Nak code) {
    const uint32_t psn = bench.pair().expected_psn, msn = bench.pair().msn;
    const auto seen = bench.send(bad);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].nak(), code);
    EXPECT_EQ(seen[0].frame.bth.psn, psn);
    EXPECT_EQ(seen[0].frame.aeth.msn, msn);
    EXPECT_EQ(bench.pair().state, State::error);
    EXPECT_EQ(bench.nic.counters().nak(code), 1u);
    EXPECT_EQ(bench.nic.counters().refused, 1u);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(bench.send(write_only(psn + i, {})).empty());
    EXPECT_EQ(bench.dropped(Drop::not_ready), 3u);
}

void expect_fatal(const Bytes& bad, Nak code) {
    Bench bench;
    expect_fatal(bench, bad, code);
}

Bytes send_bytes(Opcode opcode, uint32_t psn, const Bytes& payload) { return write_request(opcode, psn, payload); }

TEST(Write, OfEveryLengthUpToTheMtu) {
    Bench bench;
    for (uint32_t size = 0; size <= 256; ++size) {
        EXPECT_TRUE(bench.send(write_only(size, pattern(size, size), 1000)).at(0).is_ack());
        EXPECT_EQ(bench.memory(1000, size), pattern(size, size));
        EXPECT_EQ(bench.memory(1000 + size, 1), Bytes{0xff}) << "the pad is not written";
        EXPECT_EQ(bench.memory(999, 1), Bytes{0xff});
    }
    EXPECT_EQ(bench.nic.counters().writes, 257u);
    EXPECT_EQ(bench.nic.counters().written_bytes, 256u * 257 / 2);
    EXPECT_EQ(bench.nic.counters().acks, 257u);
}

TEST(Write, OfManyPackets) {
    Bench bench;
    const Bytes all = pattern(3 * 256 + 5);
    const auto part = [&](size_t from, size_t to) {
        return Bytes(all.begin() + static_cast<long>(from), all.begin() + static_cast<long>(to));
    };
    const uint32_t size = static_cast<uint32_t>(all.size());
    EXPECT_TRUE(bench.send(write_request(Opcode::write_first, 0, part(0, 256), 7, size, false)).empty());
    EXPECT_TRUE(bench.send(write_request(Opcode::write_middle, 1, part(256, 512), 0, 0, false)).empty());
    const auto middle = bench.send(write_request(Opcode::write_middle, 2, part(512, 768)));
    ASSERT_EQ(middle.size(), 1u) << "an ACK where one is asked for";
    EXPECT_EQ(middle[0].frame.aeth.msn, 0u) << "the message is not complete";
    const auto last = bench.send(send_bytes(Opcode::write_last, 3, part(768, size)));
    EXPECT_EQ(last.at(0).frame.aeth.msn, 1u);
    EXPECT_EQ(last.at(0).frame.bth.psn, 3u);
    EXPECT_EQ(bench.memory(7, size), all);
    EXPECT_EQ(bench.memory(7 + size, 1), Bytes{0xff});
    EXPECT_EQ(bench.nic.counters().writes, 1u);
    EXPECT_EQ(bench.nic.counters().requests, 4u);
}

TEST(Write, TwoPacketsOfTheLeastAndTheMost) {
    Bench bench;
    bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 257, false));
    EXPECT_TRUE(bench.send(send_bytes(Opcode::write_last, 1, pattern(1))).at(0).is_ack());
    bench.send(write_request(Opcode::write_first, 2, pattern(256), 0, 512, false));
    EXPECT_TRUE(bench.send(send_bytes(Opcode::write_last, 3, pattern(256))).at(0).is_ack());
}

TEST(Write, NoAcknowledgeUnlessAskedFor) {
    Bench bench;
    EXPECT_TRUE(bench.send(write_request(Opcode::write_only, 0, pattern(4), 0, {}, false)).empty());
    EXPECT_EQ(bench.memory(0, 4), pattern(4));
    EXPECT_EQ(bench.pair().msn, 1u);
}

TEST(Write, OverTheWholeRegionAndNotBeyond) {
    Bench bench;
    EXPECT_TRUE(bench.send(write_only(0, pattern(256), 8192 - 256)).at(0).is_ack());
    expect_fatal(write_only(0, pattern(256), 8192 - 255), Nak::remote_access_error);
    expect_fatal(write_only(0, pattern(4), 8192), Nak::remote_access_error);
    expect_fatal(write_only(0, pattern(4), ~uint64_t{0} - 1), Nak::remote_access_error);
    expect_fatal(write_request(Opcode::write_first, 0, pattern(256), 0, 8193), Nak::remote_access_error);
    expect_fatal(write_request(Opcode::write_only, 0, pattern(4), 0, {}, true, RKEY + 1), Nak::remote_access_error);
}

TEST(Write, OfNothingNeedsNoRights) {
    Bench bench;
    EXPECT_TRUE(bench.send(write_request(Opcode::write_only, 0, {}, ~uint64_t{0}, 0, true, 0)).at(0).is_ack());
    EXPECT_EQ(bench.pair().msn, 1u);
}

TEST(Write, LengthsThatContradictThePayload) {
    for (const uint32_t length : {0u, 3u, 5u, 0x80000000u, 0xffffffffu}) {
        expect_fatal(write_request(Opcode::write_only, 0, pattern(4), 0, length), Nak::invalid_request);
    }
    expect_fatal(write_only(0, pattern(257)), Nak::invalid_request);
    expect_fatal(write_request(Opcode::write_first, 0, pattern(255), 0, 600), Nak::invalid_request);
    expect_fatal(write_request(Opcode::write_first, 0, pattern(257), 0, 600), Nak::invalid_request);
    expect_fatal(write_request(Opcode::write_first, 0, pattern(256), 0, 256), Nak::invalid_request);
    expect_fatal(write_request(Opcode::write_first, 0, pattern(256), 0, 0x80000001), Nak::invalid_request);
    expect_fatal(write_request(Opcode::write_first, 0, pattern(256), 0, 0x80000000), Nak::remote_access_error);
}

TEST(Write, LaterPacketsThatContradictTheFirst) {
    struct Case {
        Opcode opcode;
        size_t bytes;
    };
    for (const Case bad : {Case{Opcode::write_last, 257}, Case{Opcode::write_last, 255}, Case{Opcode::write_last, 0},
                           Case{Opcode::write_middle, 255}, Case{Opcode::write_middle, 0}}) {
        Bench bench;
        bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 768, false));
        expect_fatal(bench, send_bytes(bad.opcode, 1, pattern(bad.bytes)), Nak::invalid_request);
    }
    Bench bench;
    bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 512, false));
    expect_fatal(bench, send_bytes(Opcode::write_middle, 1, pattern(256)), Nak::invalid_request);
}

TEST(Write, PacketsOutOfPlace) {
    expect_fatal(send_bytes(Opcode::write_middle, 0, pattern(256)), Nak::invalid_request);
    expect_fatal(send_bytes(Opcode::write_last, 0, {}), Nak::invalid_request);
    for (const Bytes& bad : {write_request(Opcode::write_first, 1, pattern(256), 0, 512), write_only(1, pattern(4)),
                             read_request(1, 0, 4)}) {
        Bench bench;
        bench.send(write_request(Opcode::write_first, 0, pattern(256), 0, 512, false));
        expect_fatal(bench, bad, Nak::invalid_request);
    }
}

TEST(Requests, WhatIsNotOfferedIsInvalid) {
    for (uint32_t i = 0; i < 0x20; ++i) {
        const Opcode opcode = static_cast<Opcode>(i);
        if (is_response(opcode) || is_write(opcode) || opcode == Opcode::read_request) continue;
        expect_fatal(built(request(opcode, 0)), Nak::invalid_request);
    }
}

TEST(Requests, ANicThatFails) {
    Bench bench;
    bench.send(write_only(0, pattern(4)));
    bench.nic.fail(0);
    EXPECT_TRUE(bench.send(write_only(0, pattern(4))).at(0).is_ack()) << "not for an old request";
    expect_fatal(bench, write_only(1, pattern(4, 1)), Nak::remote_operational_error);
    EXPECT_EQ(bench.memory(0, 4), pattern(4));
}

TEST(Read, OnlyOrSplitAtTheMtu) {
    for (const uint32_t size : {0u, 1u, 3u, 255u, 256u, 257u, 511u, 512u, 513u, 768u, 2000u, 8192u}) {
        Bench bench;
        bench.send(write_only(0, pattern(200), 3));
        const auto seen = bench.send(read_request(1, 0, size));
        const uint32_t packets = size == 0 ? 1 : (size + 255) / 256;
        ASSERT_EQ(seen.size(), packets);
        Bytes all;
        for (uint32_t i = 0; i < packets; ++i) {
            const Frame& frame = seen[i].frame;
            const Opcode opcode = packets == 1       ? Opcode::read_response_only
                                  : i == 0           ? Opcode::read_response_first
                                  : i == packets - 1 ? Opcode::read_response_last
                                                     : Opcode::read_response_middle;
            EXPECT_EQ(frame.bth.opcode, opcode);
            EXPECT_EQ(frame.bth.psn, 1 + i);
            EXPECT_EQ(frame.bth.qpn, PEER_QPN);
            EXPECT_FALSE(frame.bth.ack_request);
            if (opcode != Opcode::read_response_middle) {
                EXPECT_EQ(frame.aeth, (Aeth{0x1f, 2}));
            }
            EXPECT_TRUE(i + 1 == packets || frame.payload.size() == 256);
            all.insert(all.end(), frame.payload.begin(), frame.payload.end());
        }
        EXPECT_EQ(all, bench.memory(0, size));
        EXPECT_EQ(bench.pair().expected_psn, 1 + packets);
        EXPECT_EQ(bench.nic.counters().responses, packets);
        EXPECT_EQ(bench.nic.counters().read_bytes, size);
    }
}

TEST(Read, InTheOneMtuOfATypicalNetwork) {
    Config config = small_config();
    config.mtu = 4096;
    Bench bench(config);
    bench.send(write_only(0, pattern(4096), 4096));
    const auto seen = bench.send(read_request(1, 4096, 4096));
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].payload(), pattern(4096));
    EXPECT_EQ(bench.send(read_request(2, 0, 4097)).size(), 2u);
}

TEST(Read, BeyondTheRegionOrWithoutTheKey) {
    Bench bench;
    EXPECT_EQ(bench.send(read_request(0, 8191, 1)).size(), 1u);
    EXPECT_EQ(bench.send(read_request(1, 99999, 0, 0)).size(), 1u) << "reading nothing needs no rights";
    expect_fatal(read_request(0, 8191, 2), Nak::remote_access_error);
    expect_fatal(read_request(0, 8192, 1), Nak::remote_access_error);
    expect_fatal(read_request(0, ~uint64_t{0}, 2), Nak::remote_access_error);
    expect_fatal(read_request(0, 0, 8193), Nak::remote_access_error);
    expect_fatal(read_request(0, 0, 4, RKEY - 1), Nak::remote_access_error);
}

TEST(Read, OfMoreThanAMessageOrWithAPayload) {
    expect_fatal(read_request(0, 0, 0x80000001), Nak::invalid_request);
    expect_fatal(read_request(0, 0, 0x80000000), Nak::remote_access_error);
    Frame frame = request(Opcode::read_request, 0);
    frame.reth = {0, RKEY, 4};
    const Bytes payload(4);
    frame.payload = payload;
    expect_fatal(built(frame), Nak::invalid_request);
}

TEST(Read, MemoryStartsFullOfOnes) {
    Bench bench;
    EXPECT_EQ(bench.send(read_request(0, 40, 8)).at(0).payload(), Bytes(8, 0xff));
}

}  // namespace
