/// What a system is made of.
#pragma once

#include <vector>

#include "rdma/responder.hpp"
#include "system/controller.hpp"
#include "system/link.hpp"
#include "system/nf_host.hpp"

namespace polysome::system {

/// A port of the switch and the cable in it. `out` is from the switch, whose own queue stands before it; `in` to it.
struct CableConfig {
    uint16_t port = 0;  ///< of the device
    LinkConfig out{}, in{};
    Faults out_faults{}, in_faults{};
};

struct ServerConfig {
    CableConfig cable;
    rdma::Config nic;
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
    std::vector<uint16_t> queue_pairs;  ///< the server of each
    uint16_t recirculation = 68;
    uint64_t recirculation_rate = 100'000'000'000;
    Time recirculation_time = 0;  ///< ns that a frame takes from that port's wire back to ingress
    uint16_t generator = 69;
    uint16_t controller_port = 64;      ///< nothing is there: its queue pairs need no proof
    uint32_t queue_bytes = 512 * 1024;  ///< of each queue of the switch
    Time sweep = 500'000;               ///< ns between two sweeps over the queue pairs (rule 4); 0: none
    ControllerConfig controller;
    Time drain = 1'000'000'000;  ///< ns after the last packet until the run ends, whatever is still on the way
    bool capture = false;        ///< record every frame on every link
};

}  // namespace polysome::system
