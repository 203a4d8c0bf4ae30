// Which entry of a GID table is chosen, among all that look like it.
#include <gtest/gtest.h>

#include "rdma/agent/gid.hpp"

using namespace polysome::agent;

namespace {

constexpr uint32_t IP = 0x0a000001, OTHER = 0x0a000002, INTERFACE = 7;

ibv_gid_entry entry(uint32_t index, ibv_gid gid, uint32_t type = IBV_GID_TYPE_ROCE_V2, uint32_t port = 1,
                    uint32_t interface = INTERFACE) {
    ibv_gid_entry made{};
    made.gid = gid;
    made.gid_index = index;
    made.port_num = port;
    made.gid_type = type;
    made.ndev_ifindex = interface;
    return made;
}

/// The link-local address that every port has, of an interface whose address ends like IP.
ibv_gid link_local() {
    ibv_gid gid = gid_of(IP);
    gid.raw[0] = 0xfe;
    gid.raw[1] = 0x80;
    return gid;
}

TEST(Gid, TheFirstOfRightTypeAddressPortAndInterface) {
    const std::vector<ibv_gid_entry> table = {
        entry(0, link_local(), IBV_GID_TYPE_ROCE_V1),
        entry(1, link_local()),
        entry(2, gid_of(IP), IBV_GID_TYPE_ROCE_V1),
        entry(3, gid_of(IP), IBV_GID_TYPE_IB),
        entry(4, gid_of(OTHER)),
        entry(5, gid_of(IP), IBV_GID_TYPE_ROCE_V2, 2),
        entry(6, gid_of(IP), IBV_GID_TYPE_ROCE_V2, 1, INTERFACE + 1),  // a VLAN of it
        entry(7, gid_of(IP)),
        entry(8, gid_of(IP)),
    };
    EXPECT_EQ(gid_index(table, 1, IP, INTERFACE), 7);
    EXPECT_EQ(gid_index(table, 1, OTHER, INTERFACE), 4);
    EXPECT_EQ(gid_index(table, 2, IP, INTERFACE), 5);
    EXPECT_EQ(gid_index(table, 3, IP, INTERFACE), std::nullopt);
    EXPECT_EQ(gid_index(table, 1, IP + 9, INTERFACE), std::nullopt);
    EXPECT_EQ(gid_index(std::span(table).first(7), 1, IP, INTERFACE), std::nullopt);
}

TEST(Gid, AnEntryThatNamesNoInterfaceWillDo) {
    const std::vector<ibv_gid_entry> table = {entry(3, gid_of(IP), IBV_GID_TYPE_ROCE_V2, 1, 0)};
    EXPECT_EQ(gid_index(table, 1, IP, INTERFACE), 3);
}

TEST(Gid, AnIndexThatAnAddressVectorCannotHoldIsNone) {
    const std::vector<ibv_gid_entry> table = {entry(256, gid_of(IP))};
    EXPECT_EQ(gid_index(table, 1, IP, INTERFACE), std::nullopt);
}

TEST(Gid, TheAddressesThatThereAre) {
    const std::vector<ibv_gid_entry> table = {entry(0, link_local()), entry(1, gid_of(IP)), entry(2, gid_of(OTHER)),
                                              entry(3, gid_of(9), IBV_GID_TYPE_ROCE_V2, 2)};
    EXPECT_EQ(roce_v2_addresses(table, 1), "10.0.0.1, 10.0.0.2");
    EXPECT_EQ(roce_v2_addresses(table, 3), "none");
}

}  // namespace
