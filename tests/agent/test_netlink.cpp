// What is said to the kernel, byte by byte, and what it understands.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstdlib>

#include "rdma/agent/netlink.hpp"

using namespace polysome::agent;

namespace {

constexpr uint32_t SWITCH_IP = 0xc613fffe;
constexpr Mac SWITCH_MAC = {2, 0x70, 0x6f, 0x6c, 0x79, 1};

TEST(Netlink, Neighbour) {
    const Message wanted = {
        48, 0, 0, 0, 28,  0,    5,    5,    0,    0, 0, 0,
        0,  0, 0, 0,                                        // length, RTM_NEWNEIGH, request, ack, create, replace
        2,  0, 0, 0, 7,   0,    0,    0,    0x80, 0, 0, 0,  // IPv4, interface 7, permanent
        8,  0, 1, 0, 198, 19,   255,  254,                  // NDA_DST
        10, 0, 2, 0, 2,   0x70, 0x6f, 0x6c, 0x79, 1, 0, 0,  // NDA_LLADDR
    };
    EXPECT_EQ(neighbour_message(7, SWITCH_IP, SWITCH_MAC), wanted);
}

TEST(Netlink, Route) {
    const Message wanted = {
        44, 0,  0, 0, 24,  0,  5,   5,   0, 0, 0, 0, 0, 0, 0, 0,  // length, RTM_NEWROUTE, request, ack, create, replace
        2,  32, 0, 0, 254, 4,  253, 1,   0, 0, 0, 0,              // IPv4, /32, main table, static, on the link, unicast
        8,  0,  1, 0, 198, 19, 255, 254,                          // RTA_DST
        8,  0,  4, 0, 7,   0,  0,   0,                            // RTA_OIF
    };
    EXPECT_EQ(route_message(7, SWITCH_IP), wanted);
}

std::string output(const char* command) {
    std::string text;
    std::FILE* const pipe = popen(command, "r");
    std::array<char, 256> part;
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    pclose(pipe);
    return text;
}

/// In a network namespace of its own, which ends with the process.
class Kernel : public testing::Test {
  protected:
    void SetUp() override {
        if (unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "needs root, to make a network namespace";
        const char* const made =
            "ip link add rdma0 type veth peer name other0 && ip link set rdma0 up && "
            "ip link set other0 up && ip addr add 10.0.0.1/24 dev rdma0";
        if (std::system(made) != 0) GTEST_SKIP() << "needs iproute2 and veth";
    }
};

TEST_F(Kernel, KnowsTheSwitchForGood) {
    const Station station("rdma0");
    EXPECT_EQ(station.ip(), 0x0a000001u);
    introduce_switch(station, SWITCH_IP, Mac{2, 0, 0, 0, 0, 9});
    introduce_switch(station, SWITCH_IP, SWITCH_MAC);  // replaces what there is
    EXPECT_EQ(output("ip neigh show dev rdma0 198.19.255.254"), "198.19.255.254 lladdr 02:70:6f:6c:79:01 PERMANENT \n");
    EXPECT_NE(output("ip route get 198.19.255.254").find("198.19.255.254 dev rdma0 src 10.0.0.1"), std::string::npos);
}

TEST_F(Kernel, SaysWhyNot) {
    try {
        tell_kernel(neighbour_message(4711, SWITCH_IP, SWITCH_MAC), "name the switch");
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code, 3);
        EXPECT_STREQ(failure.what(), "cannot name the switch: No such device");
    }
}

TEST_F(Kernel, MtuAndLink) {
    const Station station("rdma0");
    EXPECT_EQ(station.mtu(), 1500u);
    EXPECT_THROW(need_interface_mtu(station, 4096), Failure);
    EXPECT_NO_THROW(need_interface_mtu(station, 1024));
    EXPECT_TRUE(station.running());
    ASSERT_EQ(std::system("ip link set other0 down"), 0);
    EXPECT_FALSE(station.running());
    EXPECT_TRUE(station.present());
    ASSERT_EQ(std::system("ip link delete rdma0"), 0);
    EXPECT_FALSE(station.present());
    EXPECT_FALSE(station.running());
}

}  // namespace
