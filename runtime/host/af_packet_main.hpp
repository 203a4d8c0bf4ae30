/// A program that runs an NF between network interfaces, without any framework: POLYSOME_AF_PACKET_HOST(Nf) defines its
/// main. It needs the right to open raw sockets (CAP_NET_RAW).
///
///   --port PORT=INTERFACE   one for each port; what the NF sends to a port without one is counted and gone
///   --config BLOB           the config; on SIGHUP the file is read again and takes effect between two batches, whole
///   or
///                           (if it is malformed) not at all
///
/// The NF's time is the system's, in ns, taken once a batch; it never runs back. What is due while no packet comes
/// happens within a millisecond, or 50 us if packets are held. A line every second and all counters at the end, on
/// stderr and stdout. SIGINT and SIGTERM end it, exit code 0; 2 for a wrong command line; 3 for the environment.
#pragma once

#include <ctime>
#include <memory>

#include "host/af_packet.hpp"

namespace polysome::host {

/// What an AF_PACKET host is asked to do.
template <class Nf>
struct PacketOptions {
    std::array<std::string, Nf::port_names.size()> interfaces;
    std::string config;  ///< a file's name

    PacketOptions(int argc, char** argv) {
        bool any = false;
        for (const auto& [name, value] : option_pairs(argc, argv)) {
            if (name == "--port") {
                const auto [port, interface] = port_and_rest<Nf>(value);
                if (port < 0) throw Failure(2, "--port takes PORT=INTERFACE, not `" + interface + "`");
                interfaces[static_cast<size_t>(port)] = interface;
                any = true;
            } else if (name == "--config") {
                config = value;
            } else {
                throw Failure(2,
                              "no option `" + std::string(name) + "`; there are --port PORT=INTERFACE, --config BLOB");
            }
        }
        if (!any) throw Failure(2, "nothing to do: give at least one --port PORT=INTERFACE");
    }
};

/// Sends what leaves.
template <size_t P>
struct PacketSink {
    std::array<std::unique_ptr<Interface>, P> interfaces;
    uint64_t nowhere = 0;  ///< left by a port without an interface

    void left(uint16_t port, uint64_t, std::span<const uint8_t> bytes, uint64_t) {
        if (interfaces[port] == nullptr) {
            ++nowhere;
        } else {
            interfaces[port]->send(bytes);
        }
    }
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t cause) {
        left(port, time, bytes, cause);
    }
    void dropped(uint64_t, uint16_t) {}
    template <class Packet>
    void decided(uint64_t, uint64_t, const Packet&) {}
};

/// An NF between interfaces.
template <class Nf>
class PacketHost {
  public:
    explicit PacketHost(PacketOptions<Nf> options)
        : options_(std::move(options)), machines_(std::make_unique<Machines>(sink_, 1)) {
        if (!machines_->configure(config())) throw Failure(3, "the config is not one of this NF");
        for (size_t port = 0; port < ports; ++port) {
            if (options_.interfaces[port].empty()) continue;
            sink_.interfaces[port] = std::make_unique<Interface>(options_.interfaces[port]);
            polled_.push_back({sink_.interfaces[port]->descriptor(), POLLIN, 0});
            of_polled_.push_back(static_cast<uint16_t>(port));
        }
    }

    /// Until it is asked to stop.
    void run() {
        watch_signals(true);
        while (!stop_asked) {
            if (reload_asked.exchange(false)) reload();
            wait();
            if (stop_asked) break;
            for (const uint16_t port : of_polled_) {
                const uint64_t time = now();
                machines_->arrive({arrivals_.data(), sink_.interfaces[port]->receive(time, port, arrivals_.data())});
            }
            machines_->advance(now());
            for (const uint16_t port : of_polled_) sink_.interfaces[port]->flush();
            statistics_.tick(*machines_);
        }
        report();
    }

  private:
    static constexpr size_t ports = Nf::port_names.size();
    using Machines = Sharded<Nf, PacketSink<ports>>;

    static uint64_t now() {
        timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
    }

    std::vector<uint8_t> config() const {
        return options_.config.empty() ? std::vector<uint8_t>{} : read_file(options_.config);
    }

    void wait() {
        const timespec time{0, machines_->held() != 0 ? 50'000 : 1'000'000};
        ppoll(polled_.data(), polled_.size(), &time, nullptr);
    }

    void reload() {
        try {
            machines_->advance(now());
            const bool fits = machines_->configure(config());
            std::fprintf(stderr, fits ? "config replaced\n" : "the config is not one of this NF: it stays as it was\n");
        } catch (const Failure& failure) {
            std::fprintf(stderr, "%s: the config stays as it was\n", failure.what());
        }
    }

    void report() {
        print_counters<Nf>(stdout, machines_->counters(), machines_->held());
        const auto line = [](const std::string& what, uint64_t n) {
            if (n != 0) std::printf("%-40s %14llu\n", what.c_str(), static_cast<unsigned long long>(n));
        };
        line("left by a port without interface", sink_.nowhere);
        for (const uint16_t port : of_polled_) {
            Interface& interface = *sink_.interfaces[port];
            line(interface.name() + ": lost before they were received", interface.lost());
            line(interface.name() + ": too long to receive", interface.truncated);
            line(interface.name() + ": not taken for sending", interface.unsent);
        }
    }

    PacketOptions<Nf> options_;
    PacketSink<ports> sink_;
    std::unique_ptr<Machines> machines_;
    std::vector<pollfd> polled_;
    std::vector<uint16_t> of_polled_;  ///< their ports
    std::array<Arrival, Interface::batch> arrivals_;
    Statistics statistics_;
};

template <class Nf>
void af_packet_host(int argc, char** argv) {
    PacketHost<Nf>(PacketOptions<Nf>(argc, argv)).run();
}

}  // namespace polysome::host

/// The main function of a program that runs `Nf`, a generated NF, between network interfaces.
#define POLYSOME_AF_PACKET_HOST(Nf)                                                                         \
    int main(int argc, char** argv) {                                                                       \
        return polysome::host::run_host(Nf::name, [&] { polysome::host::af_packet_host<Nf>(argc, argv); }); \
    }
