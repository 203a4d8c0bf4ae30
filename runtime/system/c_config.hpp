/// What a caller in C says of a system, and what it means in C++.
///
/// Times are ns, rates bit/s. What the structs point to is copied by who takes them.
#pragma once

#include <string>

#include "system/config.hpp"

extern "C" {
struct polysome_link {
    uint64_t rate;  ///< 0: frames take no time
    uint64_t delay;
    uint64_t queue;  ///< bytes
};

/// A port of the switch and the cable in it; `out` from the switch, `in` to it. The port's rate and queues are the
/// switch's, so `out` has a delay only.
struct polysome_cable {
    polysome_link out;
    polysome_link in;
    uint16_t port;  ///< of the device
    uint16_t pad[3];
};

struct polysome_server {
    polysome_cable cable;
    uint8_t mac[6];
    uint16_t queue_pairs;
    uint32_t ip;
    uint32_t rkey;
    uint64_t region;     ///< bytes
    uint64_t read_time;  ///< ns that the NIC takes for a READ
    uint64_t read_rate;  ///< bytes per second of a queue pair's READs; 0: no limit
};

/// Something that goes wrong. `kind`:
///   0 loss, 1 duplicate, 2 reorder (held back by at most `hold`), 3 corrupt   with `probability`, on a link, both ways
///   4 down    a link, both ways, from `from` to before `to`
///   5 dead    a server, from `from` to before `to` (all ones: for ever)
///   6 stuck   the NF, from `from` to before `to`
///   7 nak     a server's NIC answers each queue pair's next request after `from` with a fatal NAK
/// `where`: 0 the NF, 1 server `index`, 2 logical port `index`. Times count from polysome_system::start.
struct polysome_fault {
    uint8_t kind;
    uint8_t where;
    uint16_t index;
    uint32_t pad;
    double probability;
    uint64_t hold;
    uint64_t from;
    uint64_t to;
};

struct polysome_system {
    uint64_t seed;
    uint64_t start;  ///< when the first packet comes; times of faults count from here
    uint8_t switch_mac[6];
    uint16_t pad;
    uint32_t switch_ip;
    uint32_t pad2;

    const polysome_cable* traffic;  ///< by logical port
    size_t traffic_count;
    const polysome_server* servers;
    size_t server_count;
    polysome_cable nf_cable;
    uint32_t nf_queue;  ///< frames
    uint32_t nf_burst;
    uint64_t nf_frame_time;

    const polysome_fault* faults;
    size_t fault_count;

    uint64_t drain;         ///< ns after the last packet, at most
    uint32_t capture;       ///< 1: a record of every frame on every link
    uint32_t collide;       ///< 1: the NF's hash tables have few places, for tests
    const uint64_t* sizes;  ///< of the NF's state; none: those it was generated with
    size_t size_count;
};

/// How far a run is. `next`: when a server dies, comes back or fails (all ones: none does). `resting`: nothing moves,
/// and nothing is left to be seen by a look at the switch.
struct polysome_progress {
    uint64_t now;
    uint64_t next;
    uint32_t taken;  ///< packets of the last call that have arrived
    uint32_t resting;
};

/// As SetPort of the controller's driver has it.
struct polysome_port {
    uint64_t rate;       ///< bit/s; 0: no limit
    uint64_t loop_time;  ///< ns
    uint32_t queue_bytes;
    uint32_t first_queue_bytes;  ///< 0: as the others
    uint16_t port;
    uint8_t role;
    uint8_t index;
    uint8_t append_icrc;
    uint8_t loopback;
    uint16_t pad;
};
}

namespace polysome::system {

/// Of frames that bits flip in on the way to a server: the share where they do after the MAC has looked, so that only
/// the ICRC can tell. Nothing like it on other links: there is no second check behind the first.
inline constexpr double share_past_checksum = 0.25;

inline rdma::Mac mac_of(const uint8_t (&bytes)[6]) {
    rdma::Mac mac;
    std::copy(std::begin(bytes), std::end(bytes), mac.begin());
    return mac;
}
inline LinkConfig link_of(const polysome_link& link) { return {link.rate, link.delay, link.queue}; }
inline CableConfig cable_of(const polysome_cable& cable) {
    return {.port = cable.port, .out = link_of(cable.out), .in = link_of(cable.in), .out_faults = {}, .in_faults = {}};
}

/// Puts a fault where it belongs. std::invalid_argument if that is nowhere.
class FaultPlan {
  public:
    FaultPlan(SystemConfig& config, Time start) : config_(config), start_(start) {}

    void add(const polysome_fault& fault) {
        switch (fault.kind) {
            case 5:
                return server(fault).dead.push_back(interval(fault));
            case 6:
                return nf(fault).stuck.push_back(interval(fault));
            case 7:
                return server(fault).failures.push_back(start_ + fault.from);
            default:
                CableConfig& cable = cable_at(fault);
                set(cable.out_faults, fault);
                set(cable.in_faults, fault);
                if (fault.kind == 3 && fault.where == 1) cable.out_faults.past_checksum = share_past_checksum;
        }
    }

  private:
    static constexpr const char* nowhere = "a fault is at a server, port or NF that there is not";

    Interval interval(const polysome_fault& fault) const {
        if (fault.from >= fault.to) throw std::invalid_argument("a fault's interval is empty");
        return {start_ + fault.from, fault.to > never - start_ ? never : start_ + fault.to};
    }
    ServerConfig& server(const polysome_fault& fault) {
        if (fault.where != 1 || fault.index >= config_.servers.size()) throw std::invalid_argument(nowhere);
        return config_.servers[fault.index];
    }
    NfHostConfig& nf(const polysome_fault& fault) {
        if (fault.where != 0) throw std::invalid_argument(nowhere);
        return config_.nf;
    }
    CableConfig& cable_at(const polysome_fault& fault) {
        if (fault.where == 0) return config_.nf_cable;
        if (fault.where == 1) return server(fault).cable;
        if (fault.where != 2 || fault.index >= config_.traffic.size()) throw std::invalid_argument(nowhere);
        return config_.traffic[fault.index];
    }
    void set(Faults& faults, const polysome_fault& fault) {
        if (fault.kind != 4 && (fault.probability < 0 || fault.probability > 1)) {
            throw std::invalid_argument("a fault's probability is not between 0 and 1");
        }
        switch (fault.kind) {
            case 0:
                faults.loss = fault.probability;
                break;
            case 1:
                faults.duplicate = fault.probability;
                break;
            case 2:
                faults.reorder = fault.probability;
                faults.hold = fault.hold;
                break;
            case 3:
                faults.corrupt = fault.probability;
                break;
            case 4:
                faults.down.push_back(interval(fault));
                break;
            default:
                throw std::invalid_argument("there is no fault of kind " + std::to_string(fault.kind));
        }
    }

    SystemConfig& config_;
    Time start_;
};

/// std::invalid_argument if it makes no sense.
inline SystemConfig config_of(const polysome_system& from) {
    SystemConfig config;
    config.seed = from.seed;
    config.switch_mac = mac_of(from.switch_mac);
    config.switch_ip = from.switch_ip;
    for (const polysome_cable& cable : std::span(from.traffic, from.traffic_count)) {
        config.traffic.push_back(cable_of(cable));
    }
    config.nf_cable = cable_of(from.nf_cable);
    config.nf = {.queue = from.nf_queue, .burst = from.nf_burst, .frame_time = from.nf_frame_time, .stuck = {}};
    for (const polysome_server& server : std::span(from.servers, from.server_count)) {
        ServerConfig made;
        made.cable = cable_of(server.cable);
        made.nic.mac = mac_of(server.mac);
        made.nic.ip = server.ip;
        made.nic.rkey = server.rkey;
        made.nic.region_size = server.region;
        made.nic.read_time = server.read_time;
        made.nic.read_rate = server.read_rate;
        made.queue_pairs = server.queue_pairs;
        config.servers.push_back(made);
    }
    config.drain = from.drain;
    config.capture = from.capture != 0;
    FaultPlan plan(config, from.start);
    for (const polysome_fault& fault : std::span(from.faults, from.fault_count)) plan.add(fault);
    return config;
}

}  // namespace polysome::system
