#include <gtest/gtest.h>

#include "rdma/roce.hpp"
#include "requester.hpp"

using namespace requester;

namespace {

const Bytes WRITE = write_request(Opcode::write_only, 0xabcdef, hex("0102030405"), 0x1122334455667788);

Flaw flaw_of(const Bytes& bytes) {
    Frame frame;
    return parse(bytes, frame);
}

Bytes changed(size_t at, uint8_t value, Bytes bytes = WRITE) {
    bytes[at] = value;
    return resealed(std::move(bytes));
}

/// Laid out by hand from sections 9.2 and 9.3 of the specification, RFC 791 and RFC 768; ICRC left out.
TEST(Roce, AWriteByteForByte) {
    const Bytes expected =
        hex("020000000002 020000000001 0800"
            "45 00 0044 0000 4000 40 11 6858 c0a828fe c0a82802"
            "c000 12b7 0030 0000"
            "0a 70 ffff 00123456 80abcdef"
            "1122334455667788 feedf00d 00000005"
            "0102030405 000000");
    EXPECT_EQ(Bytes(WRITE.begin(), WRITE.end() - 4), expected);
}

TEST(Roce, AnAcknowledgeByteForByte) {
    Frame frame = request(Opcode::acknowledge, 7, false);
    frame.aeth = {nak_syndrome(Nak::remote_access_error), 0x010203};
    const Bytes bytes = built(frame);
    EXPECT_EQ(Bytes(bytes.begin() + BTH_AT, bytes.end() - 4), hex("1140ffff00123456 00000007 62010203"));
}

TEST(Roce, EveryOpcodeComesBack) {
    for (uint32_t opcode = 0; opcode < 0x20; ++opcode) {
        for (size_t size = 0; size < 9; ++size) {
            Frame frame = request(static_cast<Opcode>(opcode), 0x800000, size % 2 == 0);
            const Bytes payload = pattern(size);
            frame.payload = payload;
            frame.source_port = 0xf123;
            frame.bth.solicited = frame.bth.fecn = size == 3;
            frame.bth.migrated = frame.bth.becn = size == 4;
            frame.bth.pkey = 0x7fff;
            if (has_reth(frame.bth.opcode)) frame.reth = {1, 2, 3};
            if (has_aeth(frame.bth.opcode)) frame.aeth = {0x61, 0xfffffe};
            const Bytes bytes = built(frame);
            ASSERT_EQ(bytes.size(), frame_size(frame));
            Frame back;
            ASSERT_EQ(parse(bytes, back), Flaw::none) << opcode;
            EXPECT_TRUE(icrc_holds(datagram(std::span(bytes))));
            EXPECT_EQ(Bytes(back.payload.begin(), back.payload.end()), payload);
            EXPECT_EQ(back.bth.pad, (4 - size % 4) % 4);
            frame.bth.pad = back.bth.pad;
            EXPECT_EQ(back.bth, frame.bth);
            EXPECT_EQ(back.reth, frame.reth);
            EXPECT_EQ(back.aeth, frame.aeth);
            EXPECT_TRUE(back.destination == SERVER_MAC && back.source == SWITCH_MAC);
            EXPECT_TRUE(back.destination_ip == SERVER_IP && back.source_ip == SWITCH_IP);
            EXPECT_EQ(back.source_port, 0xf123);
        }
    }
}

/// Section 9.4's tables of what follows the BTH: the operands of atomics are 28 bytes, their answers 12.
TEST(Roce, SizesOfExtensions) {
    const std::vector<size_t> sizes = {0, 0, 0, 4, 0, 4,  16, 0,  0, 4, 16, 20, 16,
                                       4, 0, 4, 4, 4, 12, 28, 28, 0, 4, 4,  0};
    for (size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(extension_size(static_cast<Opcode>(i)), sizes[i]) << i;
}

TEST(Roce, SyndromesOfSection935) {
    EXPECT_EQ(ACK_SYNDROME, 0x1f);
    EXPECT_EQ(syndrome(Answer::receiver_not_ready, 12), 0x2c);
    EXPECT_EQ(nak_syndrome(Nak::sequence_error), 0x60);
    EXPECT_EQ(nak_syndrome(Nak::invalid_rd_request), 0x64);
    EXPECT_EQ(answer_of(0x2c), Answer::receiver_not_ready);
    EXPECT_EQ(answer_of(0x9f), Answer::ack) << "the first bit is reserved";
    EXPECT_EQ(value_of(0x63), 3);
}

TEST(Roce, TheIcrcIsLittleEndian) {
    const uint32_t sum = icrc(std::span(WRITE).subspan(ETHERNET_SIZE, WRITE.size() - ETHERNET_SIZE - 4));
    EXPECT_EQ(WRITE[WRITE.size() - 4], sum & 0xff);
    EXPECT_EQ(WRITE[WRITE.size() - 1], sum >> 24);
}

TEST(Roce, NoPrefixIsAFrame) {
    for (size_t size = 0; size < WRITE.size(); ++size) {
        const Bytes part(WRITE.begin(), WRITE.begin() + static_cast<long>(size));
        EXPECT_EQ(flaw_of(part), Flaw::truncated) << size;
    }
}

TEST(Roce, WhatFollowsTheDatagramDoesNotCount) {
    Bytes longer = WRITE;
    longer.insert(longer.end(), 9, 0x55);
    Frame frame;
    ASSERT_EQ(parse(longer, frame), Flaw::none);
    EXPECT_EQ(frame.payload.size(), 5u);
    EXPECT_TRUE(icrc_holds(datagram(std::span<const uint8_t>(longer))));
}

TEST(Roce, FlawsOfIpv4) {
    EXPECT_EQ(flaw_of(changed(13, 0x06)), Flaw::not_roce);
    EXPECT_EQ(flaw_of(changed(14, 0x65)), Flaw::bad_length);
    EXPECT_EQ(flaw_of(changed(14, 0x44)), Flaw::bad_length);
    EXPECT_EQ(flaw_of(changed(14, 0x46)), Flaw::ip_options);
    EXPECT_EQ(flaw_of(changed(20, 0x60)), Flaw::fragment) << "more fragments";
    EXPECT_EQ(flaw_of(changed(21, 1)), Flaw::fragment) << "offset 8";
    EXPECT_EQ(flaw_of(changed(20, 0x20)), Flaw::fragment);
    EXPECT_EQ(flaw_of(changed(20, 0x10)), Flaw::fragment) << "the highest bit of the offset";
    EXPECT_EQ(flaw_of(changed(20, 0)), Flaw::none) << "may be fragmented";
    EXPECT_EQ(flaw_of(changed(23, 6)), Flaw::not_roce);
    for (size_t at = 14; at < 34; ++at) {
        Bytes bad = WRITE;
        bad[at] ^= 1;
        if (at != 14) {
            EXPECT_EQ(flaw_of(bad), Flaw::bad_checksum) << at;
        }
    }
}

TEST(Roce, FlawsOfUdp) {
    EXPECT_EQ(flaw_of(changed(37, 0xb8)), Flaw::not_roce);
    EXPECT_EQ(flaw_of(changed(39, 0x31)), Flaw::bad_length);
    EXPECT_EQ(flaw_of(changed(41, 0x30)), Flaw::none) << "its checksum is not looked at";
}

/// `total` bytes of IPv4 datagram, with the lengths of IPv4 and UDP both right.
Bytes of_total(uint16_t total, Opcode opcode) {
    Bytes bytes = built(request(opcode, 1));
    bytes.resize(ETHERNET_SIZE + std::max<size_t>(total, 28));
    store(bytes.data() + 16, total);
    store(bytes.data() + 38, static_cast<uint16_t>(total - 20));
    uint8_t* const ip = bytes.data() + ETHERNET_SIZE;
    store(ip + 10, uint16_t{0});
    store(ip + 10, checksum({ip, IPV4_SIZE}));
    return bytes;
}

TEST(Roce, FlawsOfLengths) {
    for (const uint16_t total : {uint16_t{20}, uint16_t{27}, uint16_t{28}, uint16_t{43}}) {
        EXPECT_EQ(flaw_of(of_total(total, Opcode::send_only)), Flaw::bad_length) << total;
    }
    EXPECT_EQ(flaw_of(of_total(44, Opcode::send_only)), Flaw::none);
    EXPECT_EQ(flaw_of(of_total(56, Opcode::read_request)), Flaw::bad_length) << "no room for the RETH";
    EXPECT_EQ(flaw_of(of_total(60, Opcode::read_request)), Flaw::none);
    EXPECT_EQ(flaw_of(of_total(62, Opcode::read_request)), Flaw::bad_length) << "half a word";
    EXPECT_EQ(flaw_of(changed(BTH_AT + 1, 0x71)), Flaw::bad_version);
    const Bytes empty = write_only(1, {});
    EXPECT_EQ(flaw_of(empty), Flaw::none);
    EXPECT_EQ(flaw_of(changed(BTH_AT + 1, 0x50, empty)), Flaw::bad_length) << "a pad of what is not there";
}

}  // namespace
