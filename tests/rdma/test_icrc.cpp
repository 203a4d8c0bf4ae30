#include <gtest/gtest.h>

#include <random>

#include "rdma/icrc.hpp"
#include "requester.hpp"

using namespace polysome::rdma;
using requester::Bytes;
using requester::hex;

namespace {

/// The definition, bit by bit: divide by the polynomial.
uint32_t slow_state(uint32_t state, std::span<const uint8_t> bytes) {
    for (const uint8_t byte : bytes) {
        for (int bit = 0; bit < 8; ++bit) {
            const bool odd = ((state ^ static_cast<uint32_t>(byte >> bit)) & 1) != 0;
            state = (state >> 1) ^ (odd ? 0xedb88320 : 0);
        }
    }
    return state;
}

/// Frames with known ICRCs, as the tests of scapy's RoCE layer give them (test/contrib/roce.uts).
/// A congestion notification, captured on a ConnectX-4 Lx: BECN is set, service class 0xc2.
const Bytes NOTIFICATION =
    hex("e41d 2dab 2bc2 7cfe 9064 3b32 0800 45c2 003c 718c 4000 4011 9161 0a00 1101 0a00 1201 0000 12b7 0028 0000 8100"
        "ffff 4000 0118 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 82fd 002a");
/// An unreliable SEND Only with two bytes of pad and a UDP checksum, put together here from the fields given there.
const Bytes SEND =
    hex("248a 07a8 fa22 248a 07a8 fa22 0800 4501 0040 0478 4000 4011 b4d5 c0a8 0007 c0a8 0007 c000 12b7 002c aca2 2460"
        "ffff 0000 00d3 00cf 1710 4630 818b e289 35d9 0e9a 9550 5401 be88 5e50 0000 78f3 53f3");

TEST(Crc32, CheckValue) {
    const std::string_view digits = "123456789";  // the check value that catalogues of CRCs give for CRC-32/ISO-HDLC
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(digits.data()), digits.size());
    EXPECT_EQ(~crc_by_tables(CRC_START, bytes), 0xcbf43926u);
    EXPECT_EQ(~slow_state(CRC_START, bytes), 0xcbf43926u);
}

TEST(Crc32, EveryWayIsTheDefinition) {
    std::mt19937 random(1);
    for (size_t size = 0; size < 700; ++size) {
        Bytes bytes(size);
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
        const uint32_t start = static_cast<uint32_t>(random()), state = slow_state(start, bytes);
        ASSERT_EQ(crc_by_tables(start, bytes), state) << size;
        ASSERT_EQ(crc_after(start, bytes), state) << size;
    }
}

TEST(Crc32, FoldingIsWhatThisProcessorUses) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("pclmul")) GTEST_SKIP() << "this processor cannot multiply without carries";
    for (const size_t size : {64u, 65u, 79u, 80u, 127u, 128u, 143u, 4096u + 17u}) {
        const Bytes bytes = requester::pattern(size);
        EXPECT_EQ(crc_by_folding(0x12345678, bytes), slow_state(0x12345678, bytes)) << size;
    }
#else
    GTEST_SKIP() << "only x86-64 has it";
#endif
}

TEST(Icrc, PublishedFrames) {
    for (const Bytes& frame : {NOTIFICATION, SEND}) {
        EXPECT_TRUE(icrc_holds(std::span(frame).subspan(ETHERNET_SIZE)));
        Bytes again = frame;
        std::fill(again.end() - 4, again.end(), uint8_t{0});
        seal(std::span(again).subspan(ETHERNET_SIZE));
        EXPECT_EQ(again, frame);
    }
}

TEST(Icrc, PublishedFramesAreParsed) {
    Frame frame;
    ASSERT_EQ(parse(NOTIFICATION, frame), Flaw::none);
    EXPECT_EQ(static_cast<int>(frame.bth.opcode), 0x81);
    EXPECT_TRUE(frame.bth.becn && !frame.bth.fecn && !frame.bth.migrated);
    EXPECT_EQ(frame.bth.qpn, 0x118u);
    EXPECT_EQ(frame.payload.size(), 16u);
    ASSERT_EQ(parse(SEND, frame), Flaw::none);
    EXPECT_EQ(static_cast<int>(frame.bth.opcode), 0x24);
    EXPECT_EQ(frame.bth.psn, 13571856u);
    EXPECT_EQ(frame.bth.qpn, 211u);
    EXPECT_EQ(frame.bth.pad, 2);
    EXPECT_EQ(frame.payload.size(), 18u);
}

/// Which bits of a datagram the ICRC does not cover, by place: service class, time to live, both checksums, resv8a.
TEST(Icrc, CoversEveryBitButWhatMayChange) {
    const Bytes good = requester::built([] {
        Frame frame = requester::request(Opcode::write_only, 77);
        frame.reth = {1, 2, 3};
        return frame;
    }());
    for (size_t at = ETHERNET_SIZE; at < good.size(); ++at) {
        const size_t ip = at - ETHERNET_SIZE;
        const bool masked = ip == 1 || ip == 8 || ip == 10 || ip == 11 || ip == 26 || ip == 27 || ip == 32;
        for (int bit = 0; bit < 8; ++bit) {
            Bytes bad = good;
            bad[at] = static_cast<uint8_t>(bad[at] ^ 1 << bit);
            EXPECT_EQ(icrc_holds(std::span(bad).subspan(ETHERNET_SIZE)), masked) << at << "." << bit;
        }
    }
}

}  // namespace
