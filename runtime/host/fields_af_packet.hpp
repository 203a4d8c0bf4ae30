/// An NF behind a switch on one network interface, by a raw packet socket: fields_af_packet_main is its main().
///
/// Answers leave by the interface by which frames came. The loop sleeps until a frame, a command or something due
/// comes. An interface that goes down, or is deleted and made again, is taken up again within 200 ms.
#pragma once

#include <sched.h>
#include <sys/prctl.h>

#include <ctime>

#include "host/af_packet.hpp"
#include "host/fields_nf.hpp"

namespace polysome::host {

/// Binds the calling thread to the first of the cores; Failure(2) if the machine does not have it.
inline void use_core(const std::vector<uint32_t>& cores) {
    if (cores.empty()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cores.front() < CPU_SETSIZE) CPU_SET(cores.front(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        throw control::Failure(2, "`cores` names core " + std::to_string(cores.front()) +
                                      ", and it cannot be used: " + std::strerror(errno));
    }
}

template <class Nf>
class FieldsPacketLoop final : public FieldsLoop {
  public:
    FieldsPacketLoop(control::Log& log, const FieldsSettings& settings)
        : log_(log), interface_(settings.interface), host_(*this), cores_(settings.cores) {
        look();
    }

    std::string configure(std::span<const uint8_t> blob) override { return host_.configure(blob); }
    Child check(std::span<const uint8_t> blob, std::span<const Sample> samples) override {
        return host_.check(blob, samples);
    }
    Child attempt(uint16_t port, std::span<const uint8_t> packet) override { return host_.attempt(port, packet); }
    FieldsStatistics statistics() override {
        lost_ += interface_.lost();
        return host_.statistics(lost_ + interface_.truncated, interface_.unsent);
    }
    std::array<uint8_t, 6> mac() override { return mac_; }
    std::vector<uint8_t> save() override { return host_.save(); }
    uint64_t clock_offset() const override { return host_.clock_offset(); }
    bool load(std::span<const uint8_t> state, uint64_t clock_offset) override {
        next_look_ = 0;  // it was by another clock
        return host_.load(state, clock_offset);
    }

    void run(control::Mailbox& mailbox, Ending& ending) override {
        use_core(cores_);
        prctl(PR_SET_TIMERSLACK, 1UL);  // ns: what is held leaves when it is due
        std::array<pollfd, 3> polled{{{interface_.descriptor(), POLLIN, 0},
                                      {mailbox.descriptor(), POLLIN, 0},
                                      {ending.descriptor(), POLLIN, 0}}};
        while (!ending.over()) {
            const uint64_t idle = host_.idle(look_every);
            const timespec time{0, static_cast<long>(idle)};
            ppoll(polled.data(), polled.size(), &time, nullptr);
            if (polled[0].revents != 0) receive();
            host_.advance();
            interface_.flush();
            if (polled[1].revents != 0) mailbox.serve();
            if (polled[2].revents != 0) ending.look();
            if (host_.clock() >= next_look_) look();
        }
        finish(polled[0]);
    }

    void send(std::span<const uint8_t> frame, uint64_t) { interface_.send(frame); }

  private:
    static constexpr uint64_t look_every = 200'000'000;      ///< ns
    static constexpr uint64_t longest_finish = 100'000'000;  ///< ns
    static constexpr int quiet = 5;                          ///< ms without a frame: there is none any more

    void receive() {
        const size_t n = interface_.receive(host_.clock(), 0, arrivals_.data());
        size_t taken = 0;
        for (size_t i = 0; i < n; ++i) {
            Arrival arrival = arrivals_[i];
            if (!host_.accepts(arrival.data, arrival.size, mac_)) continue;
            arrival.port = Tag::port(arrival.data);
            arrivals_[taken++] = arrival;
        }
        host_.arrive({arrivals_.data(), taken});
    }

    /// What is still on its way to us, when nothing is sent any more.
    void finish(pollfd& incoming) {
        const uint64_t end = host_.clock() + longest_finish;
        while (poll(&incoming, 1, quiet) > 0 && host_.clock() < end) {
            receive();
            interface_.flush();
        }
    }

    /// The interface may have come, gone or changed.
    void look() {
        next_look_ = host_.clock() + look_every;
        const Interface::Link link = interface_.look();
        if (link != link_) {
            const char* const now[] = {"up", "down", "gone"};
            const std::string text = "the interface " + interface_.name() + " is " + now[static_cast<int>(link)];
            link == Interface::Link::up ? log_.info(text) : log_.warning(text);
            link_ = link;
        }
        ifreq request{};
        std::memcpy(request.ifr_name, interface_.name().c_str(),
                    std::min<size_t>(interface_.name().size(), IFNAMSIZ - 1));
        mac_ = {};
        if (ioctl(interface_.descriptor(), SIOCGIFHWADDR, &request) == 0) {
            std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
        }
    }

    control::Log& log_;
    Interface interface_;
    FieldsHost<Nf, FieldsPacketLoop> host_;
    std::vector<uint32_t> cores_;
    std::array<uint8_t, 6> mac_{};
    Interface::Link link_ = Interface::Link::gone;
    uint64_t next_look_ = 0;
    uint64_t lost_ = 0;
    std::array<Arrival, Interface::batch> arrivals_;
};

/// `program`: SHA-256 of the NF's generated header. Exit codes as those of fields_main.
template <class Nf>
int fields_af_packet_main(int argc, char** argv, const std::string& name, std::string_view program) {
    return fields_main(argc, argv, name, {Nf::name, program, Nf::state_layout, Nf::port_names.size()},
                       [](control::Log& log, const FieldsSettings& settings) -> std::unique_ptr<FieldsLoop> {
                           return std::make_unique<FieldsPacketLoop<Nf>>(log, settings);
                       });
}

}  // namespace polysome::host
