#include <gtest/gtest.h>

#include "nf/emit.hpp"
#include "tiny_frames.hpp"

using namespace polysome;
using namespace tiny;

namespace {

Operation header(uint16_t number, std::vector<Given> given = {}) {
    return {.kind = Operation::Kind::push, .header = number, .given = std::move(given)};
}
Bytes made(const Operations& headers, const Bytes& payload) {
    Bytes out(3, 0xee);
    make(protocols, headers, payload, out);
    return out;
}

const Operation link_header = header(ETHERNET, {{0, 0x020000000002}, {1, 0x020000000001}});
const Operation ip_header = header(IPV4, {{5, 0x1234}, {6, 0x4000}, {10, 0x0a000001}, {11, 0x0a000002}});

TEST(Emit, L9_7_LengthsNextFieldsAndChecksumsAreComputed) {
    const Bytes payload = hex("0102030405");
    EXPECT_EQ(made({link_header, ip_header, header(UDP, {{0, 1000}, {1, 80}})}, payload), udp_frame(payload));
    const Operation tcp_given = header(TCP, {{0, 1000}, {1, 80}, {2, 1}, {3, 2}, {5, 0x010}, {6, 0x2000}});
    EXPECT_EQ(made({link_header, ip_header, tcp_given}, payload), tcp_frame(payload));
}

TEST(Emit, L4_6_FieldsThatAreNotGivenHaveTheirDefaults) {
    EXPECT_EQ(made({header(VLAN)}, {}), hex("0001 0000"));
    EXPECT_EQ(made({header(VLAN, {{2, 0}})}, {}), hex("0000 0000"));
    EXPECT_EQ(made({header(IPV6, {{6, 1}})}, hex("aa")),
              hex("60000000 0001 00 40") + Bytes(16) + Bytes(15) + hex("01 aa"));
}

TEST(Emit, L10_4_AChecksumOfZeroIsFfffWhereZeroIsNone) {
    // Only the source port is free: it takes the sum to ffff.
    Bytes sealed = made({link_header, ip_header, header(UDP, {{0, 0}, {1, 80}})}, {});
    const uint16_t sum = load<uint16_t>(sealed.data() + 40);
    sealed = made({link_header, ip_header, header(UDP, {{0, sum}, {1, 80}})}, {});
    EXPECT_EQ(load<uint16_t>(sealed.data() + 40), 0xffff);
}

TEST(Emit, L10_4_TheChecksumOfZerosIsFfff) {
    EXPECT_EQ(made({header(ICMP)}, Bytes(3)), hex("0000 ffff 00000000 000000"));
}

TEST(Emit, L4_5_WithoutAPseudoHeaderThereIsNothingInIt) {
    const Bytes datagram = made({header(UDP, {{0, 7}, {1, 8}})}, hex("01"));
    EXPECT_EQ(sum_of(datagram), 0);
    EXPECT_EQ(part(datagram, 0, 6), hex("0007 0008 0009"));
}

TEST(Emit, ThePayloadAlone) { EXPECT_EQ(made({}, hex("0102")), hex("0102")); }

}  // namespace
