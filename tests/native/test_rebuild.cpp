#include <gtest/gtest.h>

#include "nf/rebuild.hpp"
#include "tiny_frames.hpp"

using namespace polysome;
using namespace tiny;

namespace {

Operation push(uint16_t header, int16_t before, std::vector<Given> given = {}) {
    return {.kind = Operation::Kind::push, .header = header, .before = before, .given = std::move(given)};
}
Operation pop(uint16_t first, uint16_t last) { return {.kind = Operation::Kind::pop, .first = first, .last = last}; }
Operation truncate(uint64_t size) { return {.kind = Operation::Kind::truncate, .size = size}; }

/// The packet after edits and operations.
Bytes rebuilt(Bytes frame, const Placed& p, const Operations& operations, const std::vector<FieldEdit>& edits = {}) {
    Bytes out = hex("dead beef");  // what it held before does not matter
    rebuild(protocols, p, edits, operations, frame.data(), out);
    return out;
}

const Bytes payload = hex("0102030405");
const Bytes tag = hex("5005 0800");
const std::vector<Given> tunnel = {{10, 0xc0000201}, {11, 0xc0000202}};

/// The frame with a VLAN tag.
Bytes tagged(const Bytes& frame) { return part(frame, 0, 12) + hex("8100") + tag + part(frame, 14, frame.size()); }

TEST(Rebuild, L10_5_PopTakesTheNextFieldOfWhatStoodBefore) {
    Bytes frame = tagged(udp_frame(payload));
    const Placed p = parse(frame, {ethernet, vlan, ipv4, udp});
    EXPECT_EQ(rebuilt(frame, p, {pop(vlan, vlan)}), udp_frame(payload));
    put16(frame, 16, 0x1234);  // not what the enum says of IPv4: it stays what it was
    Bytes wanted = udp_frame(payload);
    put16(wanted, 12, 0x1234);
    EXPECT_EQ(rebuilt(frame, p, {pop(vlan, vlan)}), wanted);
}

TEST(Rebuild, L10_5_PushSaysWhatTheHeaderBeforeItSaid) {
    const Bytes frame = udp_frame(payload);
    const Placed p = parse(frame, {ethernet, ipv4, udp});
    EXPECT_EQ(rebuilt(frame, p, {push(VLAN, ipv4, {{0, 2}, {1, 1}, {2, 5}})}), tagged(frame));
}

TEST(Rebuild, L10_1_TheLaterPushIsNearer) {
    const Bytes frame = udp_frame(payload);
    const Placed p = parse(frame, {ethernet, ipv4, udp});
    const Bytes twice = rebuilt(frame, p, {push(VLAN, ipv4, {{2, 7}}), push(VLAN, ipv4, {{0, 2}, {1, 1}, {2, 5}})});
    EXPECT_EQ(twice, part(frame, 0, 12) + hex("8100 0007 8100") + tag + part(frame, 14, frame.size()));
}

TEST(Rebuild, L10_4_APushedIpHeaderIsComputed) {
    const Bytes frame = udp_frame(payload);
    const Placed p = parse(frame, {ethernet, ipv4, udp});
    Bytes outer = ip4(frame.size() - 14, 4, "c0000201 c0000202");
    put16(outer, 4, 0);
    put16(outer, 6, 0);
    seal_ipv4(outer, 0);
    EXPECT_EQ(rebuilt(frame, p, {push(IPV4, ipv4, tunnel)}),
              part(frame, 0, 14) + outer + part(frame, 14, frame.size()));
}

TEST(Rebuild, L10_4_APushedUdpHeaderHasNoChecksum) {
    const Bytes frame = udp_frame(payload);
    const Placed p = parse(frame, {ethernet, ipv4, udp});
    const Bytes found = rebuilt(frame, p, {push(UDP, udp, {{0, 5}, {1, 6}})});
    EXPECT_EQ(part(found, 34, 42), hex("0005 0006 0015 0000"));
    EXPECT_EQ(part(found, 16, 18), hex("0029"));  // 20 + 8 + 8 + 5
}

TEST(Rebuild, L10_2_AChecksumFollowsItsPseudoHeader) {
    const Bytes frame = tcp_frame(payload);
    const Placed p = parse(frame, {ethernet, ipv4, tcp});
    const Bytes found = rebuilt(frame, p, {pop(ipv4, ipv4), push(IPV6, tcp, {{5, 1}, {6, 2}})});
    ASSERT_EQ(found.size(), 14 + 40 + 20 + 5u);
    EXPECT_EQ(part(found, 12, 14), hex("86dd"));
    EXPECT_EQ(part(found, 14, 22), hex("60000000 0019 06 40"));
    Bytes covered = part(found, 22, 54) + hex("00000019 00000006") + part(found, 54, found.size());
    EXPECT_EQ(sum_of(covered), 0);  // a sum of ffff: right
}

TEST(Rebuild, L10_7_AWriteToAPoppedHeaderHasNoEffect) {
    const Bytes frame = tagged(tcp_frame(payload));
    const Placed p = parse(frame, {ethernet, vlan, ipv4, tcp});
    EXPECT_EQ(rebuilt(frame, p, {pop(vlan, vlan)}, {{vlan, 2, 99}}), tcp_frame(payload));
}

TEST(Rebuild, L10_1_TruncateCutsThePayloadAndNeverAHeader) {
    const Bytes frame = tcp_frame(Bytes(100, 7));
    const Placed p = parse(frame, {ethernet, ipv4, tcp});
    EXPECT_EQ(rebuilt(frame, p, {truncate(64)}), tcp_frame(Bytes(10, 7)));
    EXPECT_EQ(rebuilt(frame, p, {truncate(80), truncate(64), truncate(90)}), tcp_frame(Bytes(10, 7)));
    EXPECT_EQ(rebuilt(frame, p, {truncate(0)}), tcp_frame({}));
    EXPECT_EQ(rebuilt(frame, p, {truncate(1000)}), frame);
}

TEST(Rebuild, L10_6_BytesBehindADatagramStayBehindIt) {
    Bytes frame = layer2 + ip4(8 + 5 + 3, 17) + udp_header(5) + payload + hex("aabbcc");
    seal(frame, 14, 34, 40, 47);
    Placed p = parse(frame, {ethernet, ipv4, udp});
    p.limit[udp] = 47;
    const Bytes found = rebuilt(frame, p, {push(VLAN, ipv4, {{2, 5}})});
    EXPECT_EQ(part(found, 18, found.size()), part(frame, 14, frame.size()));
    // All that follows the datagram goes before any of its bytes does.
    const Bytes cut = rebuilt(frame, p, {truncate(48)});
    EXPECT_EQ(part(cut, 34, cut.size()), part(frame, 34, 48));
}

TEST(Rebuild, L10_6_OneThatSaidMoreKeepsTheDifferenceUnlessItIsCut) {
    Bytes frame = udp_frame(payload);
    put16(frame, 38, 100);  // the first fragment of a longer datagram
    const Placed p = parse(frame, {ethernet, ipv4, udp});
    Bytes found = rebuilt(frame, p, {push(ODD, udp)});
    EXPECT_EQ(load<uint16_t>(found.data() + 34 + 21 + 4), 100);
    found = rebuilt(frame, p, {push(ODD, -1)});
    EXPECT_EQ(load<uint16_t>(found.data() + 38), 121);
    found = rebuilt(frame, p, {truncate(45)});
    EXPECT_EQ(load<uint16_t>(found.data() + 38), 11);
}

TEST(Rebuild, L10_3_NothingChangesInAQuote) {
    Bytes quoted = ip4(8 + 500, 17) + udp_header(500);
    put16(quoted, 26, 0x1234);
    Bytes frame = layer2 + ip4(8 + quoted.size() + 4, 1) + hex("0301 0000 00000000") + quoted + hex("01020304");
    put16(frame, 36, sum_of(part(frame, 34, frame.size())));
    const Placed p = parse(frame, {ethernet, ipv4, icmp, quoted_ipv4, quoted_udp});
    const Bytes found = rebuilt(frame, p, {truncate(frame.size() - 3)});
    ASSERT_EQ(found.size(), frame.size() - 3);
    EXPECT_EQ(part(found, 42, found.size()), part(frame, 42, found.size()));
    EXPECT_EQ(sum_of(part(found, 34, found.size())), 0);
    EXPECT_EQ(load<uint16_t>(found.data() + 16), found.size() - 14);
}

TEST(Rebuild, L10_2_WhatDidNotChangeIsNotTouched) {
    Bytes frame = tagged(tcp_frame(payload));
    put16(frame, 54, 0xffff);  // an update would make them 0
    put16(frame, 28, 0xffff);
    const Placed p = parse(frame, {ethernet, vlan, ipv4, tcp});
    const Bytes found = rebuilt(frame, p, {pop(vlan, vlan), truncate(1000)});
    EXPECT_EQ(part(found, 14, found.size()), part(frame, 18, frame.size()));
}

TEST(Rebuild, OperationsMayBeMany) {
    const Bytes frame = udp_frame(payload);
    const Placed p = parse(frame, {ethernet, ipv4, udp});
    const Operations operations(100, push(VLAN, ipv4, {{2, 5}}));
    const Bytes found = rebuilt(frame, p, operations);
    ASSERT_EQ(found.size(), frame.size() + 400);
    EXPECT_EQ(part(found, 12, 20), hex("8100 0005 8100 0005"));
    EXPECT_EQ(part(found, 410, 414), hex("0005 0800"));
}

}  // namespace
