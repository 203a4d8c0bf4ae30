// Addresses as text.
#include <gtest/gtest.h>

#include "rdma/agent/addresses.hpp"

using namespace polysome::agent;

namespace {

TEST(Addresses, Mac) {
    EXPECT_EQ(mac_of("02:70:6f:6C:79:01"), (Mac{2, 0x70, 0x6f, 0x6c, 0x79, 1}));
    for (const char* wrong : {"", "02:70:6f:6c:79", "02:70:6f:6c:79:01:", "2:70:6f:6c:79:010", "02-70-6f-6c-79-01",
                              "02:70:6f:6c:79:g1", "02:70: 1:6c:79:01", "02:70:+1:6c:79:01", "02:70:6f:6c:79:1 "}) {
        EXPECT_EQ(mac_of(wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(text_of(Mac{2, 0x70, 0x6f, 0x6c, 0x79, 1}), "02:70:6f:6c:79:01");
}

TEST(Addresses, Ip) {
    EXPECT_EQ(ip_of("198.19.255.254"), 0xc613fffe);
    for (const char* wrong : {"", "198.19.255", "198.19.255.256", "198.19.255.254/24", "::1", "memory0"}) {
        EXPECT_EQ(ip_of(wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(text_of(uint32_t{0xc613fffe}), "198.19.255.254");
}

TEST(Addresses, AnInterfaceThatIsNotThereOrNoEthernet) {
    EXPECT_THROW(Station("no-such-one"), Failure);
    EXPECT_THROW(Station("lo"), Failure);
}

/// 4096 bytes of payload, as PROTOCOL.md counts: an IPv4 total length of 60 + D for a WRITE.
TEST(Addresses, TheMtuThatAPathNeeds) { EXPECT_EQ(interface_mtu_for(4096), 4096u + 60); }

}  // namespace
