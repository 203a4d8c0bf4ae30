/// An RDMA NIC for machines that have none: the software responder of runtime/rdma on a raw socket, with MAC and IPv4
/// address of the network interface itself.
///
/// The kernel has its own stack on that interface: what is not RoCEv2 to our address goes past us, by a filter, and the
/// kernel's stack gets RoCEv2 frames too. A socket that takes none keeps it from answering them ("port unreachable").
/// The region is plain memory: NUMA node and huge pages matter to NICs.
#pragma once

#include <cctype>
#include <memory>

#include "host/af_packet.hpp"
#include "rdma/agent/addresses.hpp"
#include "rdma/agent/filter.hpp"
#include "rdma/responder.hpp"

namespace polysome::agent {

/// Holds RoCE's UDP port of an address, and takes nothing from it.
class PortHolder {
  public:
    /// Failure(3) if somebody else has it: two responders with one address would both answer.
    explicit PortHolder(const Station& station) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        if (socket_ < 0) throw Failure(3, "no socket: " + std::string(std::strerror(errno)));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(rdma::ROCE_PORT);
        address.sin_addr.s_addr = htonl(station.ip());
        try {
            attach_filter(socket_, nothing_filter());
            if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
            throw Failure(3, "cannot have UDP port " + std::to_string(rdma::ROCE_PORT) + " of " +
                                 text_of(station.ip()) + " (" + station.name() + "): " + std::strerror(errno) +
                                 "; is another agent, or a soft RDMA driver, on it?");
        } catch (...) {
            close(socket_);
            throw;
        }
    }
    PortHolder(const PortHolder&) = delete;
    PortHolder& operator=(const PortHolder&) = delete;
    ~PortHolder() { close(socket_); }

  private:
    int socket_;
};

class SoftDevice final : public Device {
  public:
    /// Failure(3) if there is no such interface, it has no IPv4 address or too small an MTU, without CAP_NET_RAW, or
    /// without memory for the region.
    explicit SoftDevice(const Settings& settings)
        : station_(settings.interface),
          holder_(station_),
          identity_{"soft", station_.mac(), station_.ip(), std::random_device{}()},
          interface_(settings.interface),
          responder_(made(settings)),
          next_number_(random_24_bits()),
          starts_(settings.queue_pairs, 0) {
        need_interface_mtu(station_, settings.mtu);
        attach_filter(interface_.descriptor(), roce_filter(station_.ip()));
        while (interface_.receive(0, 0, arrivals_.data()) > 0) continue;  // what came before the filter
        const rdma::Peer peer{settings.switch_mac, settings.switch_ip, 0};
        for (uint32_t i = 0; i < settings.queue_pairs; ++i) responder_->add(new_number(), peer, 0);
        responder_->silence();
    }

    const Identity& identity() const override { return identity_; }

    std::vector<PairStatus> pairs() override {
        std::vector<PairStatus> all;
        for (uint32_t i = 0; i < responder_->size(); ++i) all.push_back(status(i));
        return all;
    }

    PairStatus reset(uint32_t index, uint32_t peer) override {
        starts_.at(index) = random_24_bits();
        responder_->reset(index, new_number(), starts_[index], peer);
        return status(index);
    }

    void clear() override { responder_->revive(); }

    Condition condition() override {
        lost_ += interface_.lost();
        Condition condition{.link = station_.running(), .trouble = {}, .counters = counts()};
        if (!condition.link) condition.trouble = station_.name() + " is down or has no link";
        return condition;
    }

    int descriptor() const override { return interface_.descriptor(); }
    uint64_t next() const override { return std::min(responder_->next(), look_at_); }

    void work(uint64_t now) override {
        const auto emit = [this](std::span<const uint8_t> frame) { interface_.send(frame); };
        responder_->advance(now, emit);
        const size_t taken = interface_.receive(now, 0, arrivals_.data());
        for (size_t i = 0; i < taken; ++i) {
            responder_->receive({arrivals_[i].data, arrivals_[i].size}, now, emit);
        }
        interface_.flush();
        if (taken == 0) look(now);
    }

  private:
    static_assert(never == polysome::NEVER);
    static constexpr uint64_t look_every = 100'000'000;  ///< ns, while the interface is down

    /// Woken for no frame: perhaps there is no interface any more, to which the socket would never return. One that is
    /// deleted goes down first, and the socket says so only then; so one that is down is looked at again.
    void look(uint64_t now) {
        if (!station_.present()) throw Failure(3, "the interface " + station_.name() + " is gone");
        look_at_ = station_.running() ? never : now + look_every;
    }

    std::unique_ptr<rdma::Responder> made(const Settings& settings) const {
        try {
            return std::make_unique<rdma::Responder>(rdma::Config{.mac = identity_.mac,
                                                                  .ip = identity_.ip,
                                                                  .mtu = settings.mtu,
                                                                  .region_size = settings.region,
                                                                  .rkey = identity_.rkey,
                                                                  .max_reads = settings.outstanding_reads});
        } catch (const std::exception&) {
            throw Failure(3, "no memory for a region of " + std::to_string(settings.region) + " bytes");
        }
    }

    /// One after the other, so that a number comes again only after all others.
    uint32_t new_number() {
        for (;;) {
            next_number_ = (next_number_ + 1) & rdma::PSN_MASK;
            if (next_number_ >= 2 && next_number_ != rdma::PSN_MASK && !in_use(next_number_)) return next_number_;
        }
    }
    bool in_use(uint32_t number) const {
        for (uint32_t i = 0; i < responder_->size(); ++i) {
            if (responder_->pair(i).qpn == number) return true;
        }
        return false;
    }

    PairStatus status(uint32_t index) const {
        const rdma::QueuePair& pair = responder_->pair(index);
        return {pair.qpn, starts_[index], pair.peer.qpn, pair.state == rdma::State::ready};
    }

    std::vector<Count> counts() const {
        const rdma::Counters& c = responder_->counters();
        std::vector<Count> all = {{"received", c.received},
                                  {"received_bytes", c.received_bytes},
                                  {"requests", c.requests},
                                  {"writes", c.writes},
                                  {"written_bytes", c.written_bytes},
                                  {"reads", c.reads},
                                  {"read_bytes", c.read_bytes},
                                  {"repeated", c.repeated},
                                  {"refused", c.refused},
                                  {"sent", c.sent},
                                  {"sent_bytes", c.sent_bytes},
                                  {"responses", c.responses},
                                  {"acks", c.acks}};
        constexpr std::array<const char*, rdma::NAK_CODES> naks = {
            "nak_sequence_error", "nak_invalid_request", "nak_remote_access_error", "nak_remote_operational_error",
            "nak_invalid_rd_request"};
        for (size_t i = 0; i < naks.size(); ++i) all.push_back({naks[i], c.naks[i]});
        for (size_t i = 0; i < rdma::DROPS; ++i) all.push_back({counter_name(rdma::DROP_NAMES[i]), c.drops[i]});
        all.push_back({"lost", lost_});  // before they were received
        all.push_back({"unsent", interface_.unsent});
        return all;
    }

    /// "bad P_Key" as part of a metric's name: "dropped_bad_p_key".
    static std::string counter_name(const std::string& reason) {
        std::string name = "dropped_";
        for (const char c : reason) name += c == ' ' ? '_' : static_cast<char>(std::tolower(c));
        return name;
    }

    Station station_;
    PortHolder holder_;
    Identity identity_;
    host::Interface interface_;
    std::unique_ptr<rdma::Responder> responder_;
    uint32_t next_number_;
    std::vector<uint32_t> starts_;  ///< PSN of each pair's last reset
    uint64_t lost_ = 0;
    uint64_t look_at_ = never;
    std::array<Arrival, host::Interface::batch> arrivals_;
};

}  // namespace polysome::agent
