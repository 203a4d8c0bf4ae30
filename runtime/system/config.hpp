/// What a system is made of.
#pragma once

#include <vector>

#include "rdma/responder.hpp"
#include "system/link.hpp"
#include "system/nf_host.hpp"

namespace polysome::system {

/// A port of the switch and the cable in it. `out` is from the switch, whose own queue stands before it, with the rate
/// that the port is set to; `in` to it.
struct CableConfig {
    uint16_t port = 0;  ///< of the device
    LinkConfig out{}, in{};
    Faults out_faults{}, in_faults{};
};

struct ServerConfig {
    CableConfig cable;
    rdma::Config nic;
    uint32_t queue_pairs = 0;
    std::vector<Interval> dead{};
    std::vector<Time> failures{};  ///< at each, every queue pair's next request gets a fatal NAK
};

struct SystemConfig {
    uint64_t seed = 0;
    rdma::Mac switch_mac{};
    uint32_t switch_ip = 0;
    std::vector<CableConfig> traffic;  ///< by logical port
    CableConfig nf_cable;
    NfHostConfig nf;
    std::vector<ServerConfig> servers;
    Time drain = 1'000'000'000;  ///< ns after the last packet until the run ends, whatever is still on the way
    bool capture = false;        ///< record every frame on every link
};

}  // namespace polysome::system
