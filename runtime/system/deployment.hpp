/// The tables of the generated program of the split protocol (backends/tofino), filled for a system.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "switch/driver.hpp"
#include "switch/roles.hpp"
#include "system/config.hpp"

namespace polysome::system {

/// A frame to this address that is not the protocol's leaves at `port` of the device; so does one to a group, if
/// `port` has no other role.
struct Station {
    rdma::Mac mac{};
    uint16_t port = 0;
};

/// What the program's tables say that does not follow from the system's parts.
struct Deployment {
    rdma::Mac nf_mac{};
    uint32_t buckets = 1024;         ///< entries of the program's table
    std::vector<uint16_t> depths;    ///< bytes of a packet that the fields frames of ways 1, 2, ... are made from
    std::vector<uint16_t> verdicts;  ///< sets of ports that the NF may send to: 0x8000 | mask
    std::vector<Station> stations;   ///< beside the servers
    uint64_t fallback_rate = 0;      ///< bytes/s of whole packets that find no queue pair up; 0: no limit
    uint64_t fallback_burst = 0;     ///< bytes
};

constexpr u128 number_of(const rdma::Mac& mac) {
    u128 value = 0;
    for (const uint8_t byte : mac) value = value << 8 | byte;
    return value;
}

/// Through the switch's driver, by the names of the program. Errors are the driver's, std::invalid_argument.
class P4Tables final : public SplitTables {
  public:
    P4Tables(p4::SwitchDriver& driver, const SystemConfig& config, const Deployment& deployment)
        : driver_(driver), config_(config), deployment_(deployment), answers_(config.queue_pairs.size()) {}

    /// What stays for the whole run: everything but queue pairs' numbers.
    void fill() {
        fill_ports();
        fill_nf_links();
        fill_verdicts();
        fill_floods();
        fill_servers();
        fill_buckets();
        if (deployment_.fallback_rate != 0) {
            const uint64_t rate = 8 * deployment_.fallback_rate, burst = deployment_.fallback_burst;
            driver_.set_meter("Ingress.fallback", 0, {.cir = rate, .cbs = burst, .pir = rate, .pbs = burst});
        }
    }

    bool up(size_t qp) override { return driver_.read_register("Ingress.primaries", qp) != 0; }

    void set_up(size_t qp, bool up) override {
        driver_.write_register("Ingress.primaries", qp, up);
        driver_.write_register("Ingress.backups", qp, up);
    }

    void set_queue_pair(size_t qp, const QueuePairEntry& entry) override {
        const uint16_t port = config_.servers.at(entry.server).cable.port;
        const bool known = answers_.at(qp) != 0;
        if (known) driver_.delete_entry("Ingress.answers", keys({port, answers_[qp]}));
        driver_.add_entry("Ingress.answers", keys({port, entry.answers_to}), "answered", params({qp}));
        answers_[qp] = entry.answers_to;
        if (known) {
            driver_.modify_entry("Egress.queue_pairs", keys({qp}), "remote", params({entry.numbers.qpn}));
        } else {
            driver_.add_entry("Egress.queue_pairs", keys({qp}), "remote", params({entry.numbers.qpn}));
        }
        driver_.write_register("Egress.psns", qp, entry.numbers.psn);
        driver_.write_register("Ingress.acknowledged", qp, entry.numbers.psn);
        driver_.write_register("Ingress.epochs", qp, 0);
        driver_.write_register("Egress.epochs", qp, 0);
    }

    void clear_history(size_t qp) override {
        driver_.write_register("Ingress.reads", qp, 0, "count");
        driver_.write_register("Ingress.reads", qp, 0, "rests");
        driver_.write_register("Ingress.silence", qp, 0);
    }

  private:
    /// Arguments of one call.
    std::span<const p4::Match> keys(std::initializer_list<u128> values) {
        keys_.clear();
        for (const u128 value : values) keys_.push_back({.value = value});
        return keys_;
    }
    std::span<const u128> params(std::initializer_list<u128> values) {
        params_.assign(values);
        return params_;
    }

    void fill_ports() {
        for (const ServerConfig& server : config_.servers) add_station({server.nic.mac, server.cable.port});
        for (const Station& station : deployment_.stations) add_station(station);
    }
    void add_station(const Station& station) {
        driver_.add_entry("Ingress.stations", keys({number_of(station.mac)}), "forward", params({station.port}));
    }

    /// Way 0 is whole frames, which use no session; the others' are cut behind the bridge header and the fields.
    void fill_nf_links() {
        const uint16_t nf = config_.nf_cable.port;
        driver_.add_entry("Egress.nf_stations", keys({nf}), "nf", params({number_of(deployment_.nf_mac)}));
        for (size_t way = 0; way <= deployment_.depths.size(); ++way) {
            const auto session = static_cast<uint16_t>(way);
            if (way != 0) driver_.set_mirror(session, nf, bridge_bytes + deployment_.depths[way - 1]);
            for (size_t port = 0; port < config_.traffic.size(); ++port) {
                driver_.add_entry("Ingress.nf_links", keys({port, way}), "to_nf", params({nf, session}));
            }
        }
    }

    void fill_verdicts() {
        for (size_t port = 0; port < config_.traffic.size(); ++port) {
            driver_.add_entry("Ingress.verdicts", keys({port}), "send", params({config_.traffic[port].port}));
        }
        uint16_t group = 0;
        for (const uint16_t verdict : deployment_.verdicts) {
            std::vector<uint16_t> ports;
            for (size_t port = 0; port < config_.traffic.size(); ++port) {
                if ((verdict >> port & 1) != 0) ports.push_back(config_.traffic[port].port);
            }
            driver_.set_multicast(++group, ports);
            driver_.add_entry("Ingress.verdicts", keys({verdict}), "flood", params({group}));
        }
    }

    /// What comes from a station to a group of them goes to the ports of all others, servers' and plain ones; never to
    /// a port of another role, though a station may be there. Groups are numbered behind those of the verdicts.
    void fill_floods() {
        const std::set<uint16_t> found = station_ports();
        auto group = static_cast<uint16_t>(deployment_.verdicts.size());
        for (const uint16_t port : found) {
            std::vector<uint16_t> others;
            std::ranges::copy_if(found, std::back_inserter(others), [&](uint16_t other) { return other != port; });
            if (others.empty()) return;
            driver_.set_multicast(++group, others);
            driver_.add_entry("Ingress.floods", keys({port}), "flood_station", params({group}));
        }
    }
    std::set<uint16_t> station_ports() const {
        std::set<uint16_t> found;
        for (const ServerConfig& server : config_.servers) found.insert(server.cable.port);
        for (const Station& station : deployment_.stations) found.insert(station.port);
        for (const CableConfig& cable : config_.traffic) found.erase(cable.port);
        for (const uint16_t port :
             {config_.nf_cable.port, config_.recirculation, config_.generator, config_.controller_port}) {
            found.erase(port);
        }
        return found;
    }

    void fill_servers() {
        if (config_.queue_pairs.empty()) return;
        for (const ServerConfig& server : config_.servers) {
            driver_.add_entry("Egress.servers", keys({server.cable.port}), "server",
                              params({number_of(server.nic.mac), server.nic.ip, server.nic.rkey}));
        }
        for (size_t qp = 0; qp < config_.queue_pairs.size(); ++qp) {
            const uint16_t port = port_of(qp);
            driver_.add_entry("Ingress.servers", keys({qp}), "to_server", params({port}));
        }
    }

    /// Buckets take queue pairs in turn; the backup is the next one on another server, so that a server's buckets fall
    /// on all others. With one server it is another queue pair there, if there is one.
    void fill_buckets() {
        const size_t count = config_.queue_pairs.size();
        if (count == 0) return;
        constexpr auto traffic = static_cast<size_t>(p4::PortRole::traffic);
        for (size_t bucket = 0; bucket < deployment_.buckets; ++bucket) {
            const size_t primary = bucket % count;
            const size_t first = 1 + bucket / count % (count > 1 ? count - 1 : 1);
            size_t backup = (primary + first) % count;
            for (size_t i = 0; i < count; ++i) {
                const size_t other = (primary + first + i) % count;
                if (config_.queue_pairs[other] == config_.queue_pairs[primary]) continue;
                backup = other;
                break;
            }
            driver_.add_entry("Ingress.buckets", keys({traffic, bucket}), "choose",
                              params({primary, port_of(primary), backup, port_of(backup)}));
        }
    }

    uint16_t port_of(size_t qp) const { return config_.servers.at(config_.queue_pairs[qp]).cable.port; }

    static constexpr uint32_t bridge_bytes = 13;  ///< the header before a mirrored packet, which the session counts too

    p4::SwitchDriver& driver_;
    SystemConfig config_;
    Deployment deployment_;
    std::vector<uint32_t> answers_;  ///< our number of each queue pair; 0: no entry yet
    std::vector<p4::Match> keys_;
    std::vector<u128> params_;
};

}  // namespace polysome::system
