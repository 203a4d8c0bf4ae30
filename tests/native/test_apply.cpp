#include <gtest/gtest.h>

#include <random>

#include "nf/apply.hpp"
#include "tiny_frames.hpp"

using namespace polysome;
using namespace tiny;

namespace {

/// The packet after the edits.
Bytes applied(Bytes frame, const Placed& p, const std::vector<FieldEdit>& edits) {
    const uint32_t size = apply(protocols, p, edits, frame.data());
    frame.resize(size);
    return frame;
}

const Bytes payload = hex("0102030405");

TEST(Apply, L10_1_NoEditsLeaveThePacketUpToItsEnd) {
    const Bytes frame = udp_frame(payload) + Bytes(6, 0xee);
    const Placed p = parse(frame, {ethernet, ipv4, udp}, static_cast<uint32_t>(frame.size() - 6));
    EXPECT_EQ(applied(frame, p, {}), udp_frame(payload));
    EXPECT_EQ(apply(p), frame.size() - 6);
}

TEST(Apply, L10_2_ANatRewriteHasTheChecksumsOfTheNewBytes) {
    for (const Bytes& frame : {udp_frame(payload), tcp_frame(payload), tcp_frame({}), udp_frame(Bytes(1400, 0x5a))}) {
        const bool is_udp = frame[23] == 17;
        const uint8_t layer4 = is_udp ? udp : tcp;
        Bytes wanted = frame;
        write_bits(wanted.data(), 26 * 8, 32, 0xc0000201, 9999);
        write_bits(wanted.data(), 34 * 8, 16, 40000, 9999);
        wanted[22] = 63;
        seal_ipv4(wanted, 14);
        seal(wanted, 14, 34, is_udp ? 40 : 50, wanted.size());
        EXPECT_EQ(applied(frame, parse(frame, {ethernet, ipv4, layer4}),
                          {{ipv4, 10, 0xc0000201}, {layer4, 0, 40000}, {ipv4, 7, 63}}),
                  wanted);
    }
}

TEST(Apply, L10_2_AWrongChecksumStaysWrongByAsMuch) {
    Bytes frame = tcp_frame(payload);
    Bytes wanted = frame;
    put16(wanted, 34, 1234);
    seal(wanted, 14, 34, 50, wanted.size());
    const uint32_t right = load<uint16_t>(frame.data() + 50), then = load<uint16_t>(wanted.data() + 50);
    put16(frame, 50, static_cast<uint16_t>((right + 77) % 0xffff));
    put16(wanted, 50, static_cast<uint16_t>((then + 77) % 0xffff));
    EXPECT_EQ(applied(frame, parse(frame, {ethernet, ipv4, tcp}), {{tcp, 0, 1234}}), wanted);
}

TEST(Apply, L10_2_ZeroIsNoneStaysZeroAndAResultOfZeroBecomesFfff) {
    Bytes none = udp_frame(payload);
    put16(none, 40, 0);
    Bytes wanted = none;
    put16(wanted, 34, 9);
    EXPECT_EQ(applied(none, parse(none, {ethernet, ipv4, udp}), {{udp, 0, 9}}), wanted);

    Bytes frame = udp_frame(payload);
    const uint16_t sum = load<uint16_t>(frame.data() + 40);
    const uint16_t port = static_cast<uint16_t>((1000 + sum) % 0xffff);  // as much more as takes the checksum to 0
    wanted = frame;
    put16(wanted, 34, port);
    put16(wanted, 40, 0xffff);
    EXPECT_EQ(applied(frame, parse(frame, {ethernet, ipv4, udp}), {{udp, 0, port}}), wanted);
}

TEST(Apply, L10_2_AChecksumOfWhichNothingChangedIsNotTouched) {
    Bytes frame = udp_frame(payload);
    put16(frame, 24, 0xffff);  // an update would make it 0
    Bytes wanted = frame;
    wanted[0] = 4;
    EXPECT_EQ(
        applied(frame, parse(frame, {ethernet, ipv4, udp}), {{ethernet, 0, 0x040000000002}, {ipv4, 10, 0x0a000001}}),
        wanted);
}

TEST(Apply, L10_2_ChangesThatCancelStillMakeFfffZero) {
    Bytes frame = tcp_frame(payload);
    put16(frame, 50, 0xffff);
    Bytes wanted = frame;
    put16(wanted, 34, 0x0050);
    put16(wanted, 36, 0x03e8);
    put16(wanted, 50, 0);
    EXPECT_EQ(applied(frame, parse(frame, {ethernet, ipv4, tcp}), {{tcp, 0, 0x0050}, {tcp, 1, 0x03e8}}), wanted);
}

TEST(Apply, L10_3_AQuoteAndTheIcmpChecksumAroundItAreUpdated) {
    const Bytes quoted = ip4(8 + 5, 17) + udp_header(5);
    Bytes frame = layer2 + ip4(8 + quoted.size(), 1) + hex("0301 0000 00000000") + quoted;
    put16(frame, 36, sum_of(part(frame, 34, frame.size())));
    const Placed p = parse(frame, {ethernet, ipv4, icmp, quoted_ipv4, quoted_udp});
    Bytes wanted = frame;
    write_bits(wanted.data(), 54 * 8, 32, 0xc0000205, 9999);
    put16(wanted, 62, 777);
    seal_ipv4(wanted, 42);
    put16(wanted, 36, 0);
    put16(wanted, 36, sum_of(part(wanted, 34, wanted.size())));
    EXPECT_EQ(applied(frame, p, {{quoted_ipv4, 10, 0xc0000205}, {quoted_udp, 0, 777}}), wanted);
}

TEST(Apply, L4_9_WritesBeyondACutVanishAndItsChecksumToo) {
    const Bytes quoted = ip4(8 + 5, 17) + part(udp_header(5), 0, 6) + hex("12");  // half of the checksum is missing
    Bytes frame = layer2 + ip4(8 + quoted.size(), 1) + hex("0301 0000 00000000") + quoted;
    put16(frame, 36, sum_of(part(frame, 34, frame.size())));
    const Placed p = parse(frame, {ethernet, ipv4, icmp, quoted_ipv4, quoted_udp});
    ASSERT_EQ(p.header_end[quoted_udp], frame.size());
    Bytes wanted = frame;
    put16(wanted, 64, 99);
    put16(wanted, 36, 0);
    put16(wanted, 36, sum_of(part(wanted, 34, wanted.size())));
    EXPECT_EQ(applied(frame, p, {{quoted_udp, 1, 99}}), wanted);

    frame.resize(63);  // and one byte of the source port
    put16(frame, 36, 0);
    put16(frame, 36, sum_of(part(frame, 34, frame.size())));
    const Placed less = parse(frame, {ethernet, ipv4, icmp, quoted_ipv4, quoted_udp});
    wanted = frame;
    wanted[62] = 0xab;
    put16(wanted, 36, 0);
    put16(wanted, 36, sum_of(part(wanted, 34, wanted.size())));
    EXPECT_EQ(applied(frame, less, {{quoted_udp, 0, 0xabcd}, {quoted_udp, 1, 5}}), wanted);
}

TEST(Apply, L10_2_FieldsOfAnyWidthAnywhere) {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        // ICMP around, so that its checksum covers the odd header at an odd place.
        Bytes frame = layer2 + ip4(8 + 21, 1) + hex("0801 0000 00000000") + Bytes(21, static_cast<uint8_t>(random()));
        put16(frame, 36, sum_of(part(frame, 34, frame.size())));
        const Placed p = parse(frame, {ethernet, ipv4, icmp, odd});
        std::vector<FieldEdit> edits;
        Bytes wanted = frame;
        for (uint16_t f = 0; f < 4; ++f) {
            if (random() % 2) continue;
            const u128 value = (u128{random()} << 96 | u128{random()} << 60 | random()) & low_bits(odd_fields[f].width);
            edits.push_back({odd, f, value});
            write_bits(wanted.data(), 42 * 8 + odd_fields[f].offset, odd_fields[f].width, value, 9999);
        }
        put16(wanted, 36, 0);
        if (wanted != frame) put16(wanted, 36, sum_of(part(wanted, 34, wanted.size())));
        const Bytes found = applied(frame, p, edits);
        if (edits.empty()) continue;
        ASSERT_EQ(found, wanted);
    }
}

TEST(Apply, AnEditOfAHeaderThatIsNotThereDoesNothing) {
    const Bytes frame = udp_frame(payload);
    EXPECT_EQ(applied(frame, parse(frame, {ethernet, ipv4, udp}), {{tcp, 0, 5}, {vlan, 2, 7}}), frame);
}

TEST(Apply, MoreEditsThanFitInTheObject) {
    Bytes frame = layer2 + ip4(21 * 1 + 20, 6) + tcp_header() + Bytes(21, 3);
    seal(frame, 14, 34, 50, frame.size());
    std::vector<FieldEdit> edits = {{ethernet, 0, 1}, {ethernet, 1, 2}};
    for (const uint16_t f : {2, 3, 5, 6, 7, 10, 11}) edits.push_back({ipv4, f, 1});
    for (const uint16_t f : {0, 1, 2, 3, 5, 6, 8}) edits.push_back({tcp, f, 1});
    for (const uint16_t f : {0, 1, 2, 3}) edits.push_back({odd, f, 1});
    const Placed p = parse(frame, {ethernet, ipv4, tcp, odd});
    Bytes wanted = frame;
    for (const FieldEdit& edit : edits) {
        const FieldShape& f = headers[instance_shapes[edit.instance].header].fields[edit.field];
        write_bits(wanted.data(), p.offset[edit.instance] * 8 + f.offset, f.width, edit.value, 9999);
    }
    seal_ipv4(wanted, 14);
    seal(wanted, 14, 34, 50, wanted.size());
    EXPECT_EQ(applied(frame, p, edits), wanted);
}

}  // namespace
