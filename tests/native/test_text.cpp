// runtime/nf/text.hpp: the vectors are what polysome.testing.values_text writes of the same values.
#include <gtest/gtest.h>

#include "nf/text.hpp"

namespace polysome::text {
namespace {

u128 wide(uint64_t high, uint64_t low) { return u128{high} << 64 | low; }

TEST(Text, Numbers) {
    EXPECT_EQ(number(0), "0");
    EXPECT_EQ(number(0xffffffff), "4294967295");
    EXPECT_EQ(number(u128{1} << 32), "0x100000000");
    EXPECT_EQ(number(wide(0xab, 1)), "0xab0000000000000001");
    EXPECT_EQ(decimal(wide(1, 0)), "18446744073709551616");
    EXPECT_EQ(boolean(true), "true");
}

TEST(Text, Addresses) {
    EXPECT_EQ(ipv4(0xc0000201), "192.0.2.1");
    EXPECT_EQ(mac(0x020000000b01), "02:00:00:00:0b:01");
    EXPECT_EQ(ipv6(0), "::");
    EXPECT_EQ(ipv6(1), "::1");
    EXPECT_EQ(ipv6(wide(0, 0xffffc0000201)), "::ffff:192.0.2.1");
    EXPECT_EQ(ipv6(wide(0, 0x01020304)), "::102:304");
    EXPECT_EQ(ipv6(wide(0x20010db800000000, 0x1)), "2001:db8::1");
    EXPECT_EQ(ipv6(wide(0x20010db800000001, 0x0001000000000000)), "2001:db8:0:1:1::");
    EXPECT_EQ(ipv6(wide(0x2001000000000001, 0x0000000000000001)), "2001:0:0:1::1");
    EXPECT_EQ(ipv6(wide(0x0001000000020003, 0x0000000000040005)), "1:0:2:3::4:5") << "the longest run";
    EXPECT_EQ(ipv6(wide(0x0001000000000002, 0x0000000000030004)), "1::2:0:0:3:4") << "the first of two equal runs";
    EXPECT_EQ(ipv6(wide(0x0000000200030004, 0x0005000600070008)), "0:2:3:4:5:6:7:8") << "one group is not shortened";
    EXPECT_EQ(ipv6(wide(0xfe80000000000000, 0)), "fe80::");
}

TEST(Text, Times) {
    EXPECT_EQ(duration(0), "0s");
    EXPECT_EQ(duration(1), "1ns");
    EXPECT_EQ(duration(1'500), "1.5us");
    EXPECT_EQ(duration(20'000), "20us");
    EXPECT_EQ(duration(1'500'000), "1.5ms");
    EXPECT_EQ(duration(2'000'000'001), "2.000000001s");
    EXPECT_EQ(duration(30'000'000'000), "30s");
    EXPECT_EQ(duration(7'440'000'000'000), "124min");
    EXPECT_EQ(duration(7'200'000'000'000), "2h");
    EXPECT_EQ(duration(172'800'000'000'000), "2d");
    EXPECT_EQ(moment(1'500), "1500ns");
}

TEST(Text, NamesAndUnits) {
    const std::initializer_list<std::pair<uint64_t, std::string_view>> bytes{{1000, "KB"}, {1024, "KiB"}, {1, "B"}};
    EXPECT_EQ(scaled(0, bytes), "0B");
    EXPECT_EQ(scaled(3000, bytes), "3KB");
    EXPECT_EQ(scaled(2048, bytes), "2KiB");
    EXPECT_EQ(scaled(1001, bytes), "1001B");
    EXPECT_EQ(member(6, {{6, "IpProtocol.tcp"}, {17, "IpProtocol.udp"}}), "IpProtocol.tcp");
    EXPECT_EQ(member(7, {{6, "IpProtocol.tcp"}}), "7");
    const std::array<std::string_view, 2> names{"inside", "outside"};
    EXPECT_EQ(port(names, 1), "outside");
    EXPECT_EQ(port(names, 2), "2");
    EXPECT_EQ(ports(names, 7), "{inside, outside, 2}");
}

}  // namespace
}  // namespace polysome::text
