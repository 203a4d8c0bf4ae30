// The structs of the C ABI as a system's config: faults are where they belong, and those that make no sense are
// refused.
#include <gtest/gtest.h>

#include "system/c_config.hpp"

namespace {

using namespace polysome::system;

constexpr Time start = 1'700'000'000'000'000'000;

polysome_fault fault(uint8_t kind, uint8_t where, uint16_t index, double probability, Time from = 0, Time to = 0) {
    return {kind, where, index, 0, probability, 0, from, to};
}

/// Three logical ports, an NF and two servers, with these faults.
SystemConfig config_with(const std::vector<polysome_fault>& faults) {
    const std::vector<polysome_cable> traffic(3);
    const std::vector<polysome_server> servers(2);
    polysome_system system{};
    system.start = start;
    system.traffic = traffic.data();
    system.traffic_count = traffic.size();
    system.servers = servers.data();
    system.server_count = servers.size();
    system.faults = faults.data();
    system.fault_count = faults.size();
    return config_of(system);
}

std::string refusal(const polysome_fault& bad) {
    try {
        config_with({bad});
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "none";
}

TEST(Faults, AreOnBothWaysOfALink) {
    polysome_fault held = fault(2, 2, 1, 0.125);
    held.hold = 77;
    const SystemConfig config = config_with({fault(0, 1, 1, 0.25), fault(1, 0, 0, 0.5), held, fault(4, 2, 2, 0, 5, 9)});
    for (const Faults& faults : {config.servers[1].cable.in_faults, config.servers[1].cable.out_faults}) {
        EXPECT_EQ(faults.loss, 0.25);
        EXPECT_EQ(faults.duplicate, 0);
    }
    for (const Faults& faults : {config.nf_cable.in_faults, config.nf_cable.out_faults}) {
        EXPECT_EQ(faults.duplicate, 0.5);
        EXPECT_EQ(faults.loss, 0);
    }
    for (const Faults& faults : {config.traffic[1].in_faults, config.traffic[1].out_faults}) {
        EXPECT_EQ(faults.reorder, 0.125);
        EXPECT_EQ(faults.hold, 77u);
    }
    for (const Faults& faults : {config.traffic[2].in_faults, config.traffic[2].out_faults}) {
        ASSERT_EQ(faults.down.size(), 1u);
        EXPECT_EQ(faults.down[0].from, start + 5);
        EXPECT_EQ(faults.down[0].to, start + 9);
    }
    EXPECT_EQ(config.servers[0].cable.in_faults.loss, 0);
    EXPECT_EQ(config.traffic[0].in_faults.reorder, 0);
}

TEST(Faults, PassAMacOnlyWhereThereIsASecondCheck) {
    const SystemConfig config = config_with({fault(3, 1, 0, 0.5), fault(3, 0, 0, 0.125), fault(3, 2, 0, 0.25)});
    EXPECT_EQ(config.servers[0].cable.out_faults.corrupt, 0.5);
    EXPECT_EQ(config.servers[0].cable.out_faults.past_checksum, share_past_checksum);
    EXPECT_EQ(config.servers[0].cable.in_faults.corrupt, 0.5);
    EXPECT_EQ(config.servers[0].cable.in_faults.past_checksum, 0) << "the switch has no second check";
    EXPECT_EQ(config.nf_cable.out_faults.corrupt, 0.125);
    EXPECT_EQ(config.nf_cable.out_faults.past_checksum, 0);
    EXPECT_EQ(config.traffic[0].out_faults.past_checksum, 0);
    EXPECT_EQ(config.servers[1].cable.out_faults.past_checksum, 0);
}

TEST(Faults, OfMachinesCountFromTheStart) {
    const SystemConfig config =
        config_with({fault(5, 1, 0, 0, 10, never), fault(6, 0, 0, 0, 20, 30), fault(7, 1, 1, 0, 40)});
    ASSERT_EQ(config.servers[0].dead.size(), 1u);
    EXPECT_EQ(config.servers[0].dead[0].from, start + 10);
    EXPECT_EQ(config.servers[0].dead[0].to, never);
    ASSERT_EQ(config.nf.stuck.size(), 1u);
    EXPECT_EQ(config.nf.stuck[0].from, start + 20);
    EXPECT_EQ(config.nf.stuck[0].to, start + 30);
    EXPECT_EQ(config.servers[1].failures, std::vector<Time>{start + 40});
    EXPECT_TRUE(config.servers[1].dead.empty());
}

TEST(Faults, ThatMakeNoSenseAreRefused) {
    const std::string nowhere = "a fault is at a server, port or NF that there is not";
    EXPECT_EQ(refusal(fault(0, 1, 2, 0.5)), nowhere);
    EXPECT_EQ(refusal(fault(0, 2, 3, 0.5)), nowhere);
    EXPECT_EQ(refusal(fault(0, 3, 0, 0.5)), nowhere);
    EXPECT_EQ(refusal(fault(5, 0, 0, 0, 1, 2)), nowhere);
    EXPECT_EQ(refusal(fault(5, 1, 2, 0, 1, 2)), nowhere);
    EXPECT_EQ(refusal(fault(6, 1, 0, 0, 1, 2)), nowhere);
    EXPECT_EQ(refusal(fault(7, 2, 0, 0, 1)), nowhere);
    EXPECT_EQ(refusal(fault(0, 0, 0, 1.5)), "a fault's probability is not between 0 and 1");
    EXPECT_EQ(refusal(fault(0, 0, 0, -0.5)), "a fault's probability is not between 0 and 1");
    EXPECT_EQ(refusal(fault(4, 0, 0, 0, 2, 2)), "a fault's interval is empty");
    EXPECT_EQ(refusal(fault(9, 0, 0, 0.5)), "there is no fault of kind 9");
    EXPECT_EQ(refusal(fault(0, 1, 1, 1)), "none");
    EXPECT_EQ(refusal(fault(4, 2, 2, 0, 2, 3)), "none");
}

}  // namespace
