/// libibverbs without leaks and with reasons: the objects that an agent needs, each freed with its owner, and what to
/// do if one cannot be had.
#pragma once

#include <fcntl.h>
#include <infiniband/verbs.h>

#include <memory>
#include <span>

#include "rdma/agent/gid.hpp"

namespace polysome::agent::verbs {

struct Free {
    void operator()(ibv_context* context) const { ibv_close_device(context); }
    void operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
    void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
    void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
    void operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Free>;

/// An error of a call, in words, with what may be done about it.
inline std::string words(int error) {
    std::string text = std::strerror(error);
    switch (error) {
        case EACCES:
        case EPERM:
            return text +
                   "; /dev/infiniband/uverbs* must be open to this process, and changing the user (`user`) while "
                   "they are open takes Linux 5.0 and rdma-core 22 or newer";
        case ENOMEM:
            return text +
                   "; too little locked memory is allowed (`ulimit -l`, systemd: LimitMEMLOCK=infinity), or the "
                   "device has no room for more queue pairs";
        case EOPNOTSUPP:
            return text + "; the device or its driver cannot do this";
        default:
            return text;
    }
}

inline Failure failure(const std::string& what, int error) { return {3, "cannot " + what + ": " + words(error)}; }

/// What a call that gives an object gave.
template <class Object>
Owned<Object> owned(Object* object, const std::string& what) {
    if (object == nullptr) throw failure(what, errno);
    return Owned<Object>(object);
}

/// Failure(3) if there is no RDMA device of this name, with those there are.
inline Owned<ibv_context> opened(const std::string& name) {
    int count = 0;
    const std::unique_ptr<ibv_device*, decltype(&ibv_free_device_list)> all(ibv_get_device_list(&count),
                                                                            &ibv_free_device_list);
    std::string names;
    for (ibv_device* const device : std::span(all.get(), all == nullptr ? 0 : static_cast<size_t>(count))) {
        if (name == ibv_get_device_name(device)) {
            return owned(ibv_open_device(device), "open the RDMA device " + name);
        }
        names += (names.empty() ? "" : ", ") + std::string(ibv_get_device_name(device));
    }
    if (!names.empty()) throw Failure(3, "there is no RDMA device `" + name + "`; there are: " + names);
    throw Failure(3,
                  "there is no RDMA device `" + name +
                      "`, and no other: `rdma link` lists them; is the driver of the "
                      "NIC loaded (`modprobe mlx5_ib`), and its user part installed (rdma-core, ibverbs-providers)?");
}

inline ibv_port_attr port_state(ibv_context* context, uint8_t port) {
    ibv_port_attr state{};
    const int error = ibv_query_port(context, port, &state);
    if (error != 0) throw failure("ask for the state of port " + std::to_string(port), error);
    return state;
}

/// Failure(3) if what the settings ask for is beyond the device or its port.
inline void need_limits(ibv_context* context, const Settings& settings) {
    ibv_device_attr device{};
    if (const int error = ibv_query_device(context, &device)) throw failure("ask " + settings.device, error);
    const auto demand = [&settings](bool holds, const std::string& text) {
        if (!holds) throw Failure(3, settings.device + " " + text);
    };
    const auto least = [](int a, int b) { return std::to_string(a < b ? a : b); };
    demand(settings.device_port <= device.phys_port_cnt,
           "has no port " + std::to_string(settings.device_port) + "; it has " + std::to_string(device.phys_port_cnt));
    demand(
        settings.queue_pairs <= static_cast<uint32_t>(device.max_qp),
        "has room for " + std::to_string(device.max_qp) + " queue pairs, not " + std::to_string(settings.queue_pairs));
    demand(
        settings.outstanding_reads <= device.max_qp_rd_atom && settings.outstanding_reads <= device.max_qp_init_rd_atom,
        "takes " + least(device.max_qp_rd_atom, device.max_qp_init_rd_atom) + " READs at once, not " +
            std::to_string(settings.outstanding_reads) + " (outstanding_reads)");
    demand(settings.region <= device.max_mr_size, "registers " + std::to_string(device.max_mr_size) +
                                                      " bytes at most, not " + std::to_string(settings.region));
    const ibv_port_attr port = port_state(context, settings.device_port);
    demand(port.link_layer == IBV_LINK_LAYER_ETHERNET,
           "is no RoCE device at port " + std::to_string(settings.device_port) +
               ": its link is InfiniBand (`mlxconfig -d DEVICE set LINK_TYPE_P1=2` makes it Ethernet)");
    demand(mtu_bytes(port.active_mtu) >= settings.mtu,
           "has a path MTU of " + std::to_string(mtu_bytes(port.active_mtu)) + " bytes, not " +
               std::to_string(settings.mtu) + ": `ip link set dev " + settings.interface + " mtu 4200`");
}

/// The index of the interface's address among the port's GIDs. Failure(3), with those there are, if it is not there.
inline uint8_t own_gid(ibv_context* context, const Settings& settings, const Station& station) {
    constexpr size_t most = 1024;
    std::vector<ibv_gid_entry> entries(most);
    const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
    if (count < 0) throw failure("read the GID table of " + settings.device, static_cast<int>(-count));
    entries.resize(static_cast<size_t>(count));
    if (const auto index = gid_index(entries, settings.device_port, station.ip(), station.index())) return *index;
    throw Failure(3, settings.device + " has no RoCE v2 GID with the address of " + station.name() + ", " +
                         text_of(station.ip()) + ", at port " + std::to_string(settings.device_port) +
                         "; it has: " + roce_v2_addresses(entries, settings.device_port) + ". Is " + station.name() +
                         " the interface of this port (`rdma link`), and is RoCE v2 on?");
}

}  // namespace polysome::agent::verbs
