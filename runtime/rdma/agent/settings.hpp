/// Checks an AgentConfig for what is wrong in itself; what the machine lacks is found by the device.
#pragma once

#include <algorithm>
#include <array>

#include "control.pb.h"
#include "protocol/protocol.hpp"
#include "rdma/agent/addresses.hpp"

namespace polysome::agent {

/// Failure(2) with all that is wrong, each with the name of its field.
inline Settings checked(const control::AgentConfig& config) {
    std::string wrong;
    const auto demand = [&wrong](bool holds, const std::string& text) {
        if (!holds) wrong += (wrong.empty() ? "" : "; ") + text;
    };
    const auto named = [&demand](const std::string& value, const char* field) {
        demand(!value.empty(), std::string(field) + " is missing");
    };
    const bool soft = config.device() == "soft";
    named(config.server(), "server");
    named(config.device(), "device");
    named(config.interface(), "interface");
    named(config.listen(), "listen");
    named(config.tls().authority(), "tls.authority");
    named(config.tls().certificate(), "tls.certificate");
    named(config.tls().key(), "tls.key");
    const auto number = [](uint64_t value) { return ", not " + std::to_string(value); };
    demand(soft || (config.device_port() >= 1 && config.device_port() <= 255),
           "device_port is a port of the device, from 1" + number(config.device_port()));
    constexpr uint32_t most = protocol::Tag::queue_pair::most + 1u;
    demand(config.queue_pairs() <= most, "queue_pairs is 0 to " + std::to_string(most) + number(config.queue_pairs()));
    demand((config.region() == 0) == (config.queue_pairs() == 0),
           "region and queue_pairs go together: both are 0, for a server that lends nothing, or neither" +
               number(config.region()) + " and " + std::to_string(config.queue_pairs()));
    constexpr std::array<uint32_t, 5> mtus = {256, 512, 1024, 2048, 4096};
    demand(std::find(mtus.begin(), mtus.end(), config.mtu()) != mtus.end(),
           "mtu is that of an RDMA path, 256, 512, 1024, 2048 or 4096" + number(config.mtu()));
    demand(config.outstanding_reads() >= 1 && config.outstanding_reads() <= 255,
           "outstanding_reads is 1 to 255" + number(config.outstanding_reads()));
    const auto mac = mac_of(config.switch_mac());
    const auto ip = ip_of(config.switch_ip());
    demand(mac.has_value(), "switch_mac is an address like 02:70:6f:6c:79:01, not `" + config.switch_mac() + "`");
    demand(ip.has_value(), "switch_ip is an address like 198.19.255.254, not `" + config.switch_ip() + "`");
    if (!wrong.empty()) throw Failure(2, "the configuration is wrong: " + wrong);
    return {.server = config.server(),
            .device = config.device(),
            .interface = config.interface(),
            .device_port = static_cast<uint8_t>(config.device_port()),
            .numa = config.numa(),
            .region = config.region(),
            .queue_pairs = config.queue_pairs(),
            .mtu = config.mtu(),
            .switch_mac = *mac,
            .switch_ip = *ip,
            .outstanding_reads = static_cast<uint8_t>(config.outstanding_reads()),
            .huge_pages = config.huge_pages()};
}

}  // namespace polysome::agent
