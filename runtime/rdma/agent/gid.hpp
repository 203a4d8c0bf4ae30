/// Which of a port's GIDs is the server's address: the one of RoCE v2 that is the IPv4 address of its network
/// interface.
#pragma once

#include <infiniband/verbs.h>

#include <optional>
#include <span>

#include "rdma/agent/addresses.hpp"
#include "rdma/agent/attributes.hpp"

namespace polysome::agent {

/// The IPv4 address of a GID of RoCE v2; nothing for another one.
inline std::optional<uint32_t> roce_v2_address(const ibv_gid_entry& entry) {
    const ibv_gid mapped = gid_of(0);
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2 || std::memcmp(entry.gid.raw, mapped.raw, 12) != 0) return {};
    const uint8_t* const ip = entry.gid.raw + 12;
    return uint32_t{ip[0]} << 24 | uint32_t{ip[1]} << 16 | uint32_t{ip[2]} << 8 | ip[3];
}

/// The index in the table of port `port` of the first GID with address `ip` that belongs to the interface of number
/// `interface`, if the entry says to which it does (0: it does not).
inline std::optional<uint8_t> gid_index(std::span<const ibv_gid_entry> entries, uint32_t port, uint32_t ip,
                                        uint32_t interface) {
    for (const ibv_gid_entry& entry : entries) {
        const bool here = entry.port_num == port && (entry.ndev_ifindex == 0 || entry.ndev_ifindex == interface);
        if (here && entry.gid_index <= 255 && roce_v2_address(entry) == ip)
            return static_cast<uint8_t>(entry.gid_index);
    }
    return {};
}

/// The addresses that gid_index() would find at a port, "10.0.0.1, 10.0.0.2"; "none".
inline std::string roce_v2_addresses(std::span<const ibv_gid_entry> entries, uint32_t port) {
    std::string all;
    for (const ibv_gid_entry& entry : entries) {
        const auto ip = roce_v2_address(entry);
        if (entry.port_num == port && ip) all += (all.empty() ? "" : ", ") + text_of(*ip);
    }
    return all.empty() ? "none" : all;
}

}  // namespace polysome::agent
