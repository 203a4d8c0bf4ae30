// Who is at the other end, and what counts as one address.
#include <gtest/gtest.h>

#include "control/address.hpp"

using namespace polysome::control;

namespace {

/// As the kernel says it.
Peer from(const std::string& address, uint16_t port = 50'000) {
    sockaddr_storage found{};
    if (address.find(':') == std::string::npos) {
        auto& made = reinterpret_cast<sockaddr_in&>(found);
        found.ss_family = AF_INET;
        made.sin_port = htons(port);
        EXPECT_EQ(inet_pton(AF_INET, address.c_str(), &made.sin_addr), 1);
    } else {
        auto& made = reinterpret_cast<sockaddr_in6&>(found);
        found.ss_family = AF_INET6;
        made.sin6_port = htons(port);
        EXPECT_EQ(inet_pton(AF_INET6, address.c_str(), &made.sin6_addr), 1);
    }
    return peer_of(found);
}

TEST(Peer, AnIpv4AddressIsItselfOnEverySocket) {
    EXPECT_EQ(from("192.0.2.1"), from("::ffff:192.0.2.1"));
    EXPECT_EQ(from("192.0.2.1").network(), from("::ffff:192.0.2.1").network());
    EXPECT_NE(from("::ffff:192.0.2.1").network(), from("::ffff:192.0.2.2").network());
    EXPECT_NE(from("192.0.2.1").network(), from("192.0.2.2").network());
    EXPECT_EQ(from("192.0.2.1", 1).network(), from("192.0.2.1", 2).network());
}

TEST(Peer, AnIpv6AddressCountsByItsNetwork) {
    EXPECT_EQ(from("2001:db8::1").network(), from("2001:db8:0:0:ffff:1:2:3").network());
    EXPECT_NE(from("2001:db8::1").network(), from("2001:db8:0:1::1").network());
    EXPECT_NE(from("2001:db8::1"), from("2001:db8::2"));
    EXPECT_NE(from("::1").network(), from("0.0.0.1").network());
}

TEST(Peer, AsGrpcSaysIt) {
    EXPECT_EQ(peer_of("ipv4:192.0.2.1:50000"), from("192.0.2.1"));
    EXPECT_EQ(peer_of("ipv4:192.0.2.1:50000"), from("::ffff:192.0.2.1"));
    EXPECT_EQ(peer_of("ipv6:%5B2001:db8::1%5D:50000"), from("2001:db8::1"));
    EXPECT_EQ(peer_of("ipv6:[2001:db8::1]:50000"), from("2001:db8::1"));
    EXPECT_EQ(peer_of("ipv6:%5Bfe80::1%25eth0%5D:50000"), from("fe80::1"));
    EXPECT_EQ(peer_of("ipv6:[::ffff:192.0.2.1]:50000"), from("192.0.2.1"));
    for (const char* other :
         {"", "unix:", "unix:/run/a:1", "ipv4:192.0.2.1", "ipv4:192.0.2.1:", "ipv4:192.0.2.1:1x",
          "ipv4:192.0.2.1:65536", "ipv4:192.0.2:1", "ipv6::1", "ipv6:[]:1", "fd:7", ":", "ipv4::"}) {
        EXPECT_EQ(peer_of(std::string_view(other)), std::nullopt) << other;
    }
}

}  // namespace
