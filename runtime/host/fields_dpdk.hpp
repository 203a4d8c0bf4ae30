/// An NF behind a switch on one DPDK port: fields_dpdk_main is its main().
///
/// `interface` is a PCI address (0000:3b:00.0), bound to a driver that DPDK uses, or a virtual device as DPDK names it
/// (`net_af_packet0,iface=eth1`). One core, the first of `cores`, polls the port without a pause; gRPC runs on the
/// others. A machine without huge pages can only have a virtual device, and is told so.
#pragma once

#include <rte_ethdev.h>

#include "host/dpdk.hpp"
#include "host/fields_af_packet.hpp"

namespace polysome::host {

/// DPDK's environment with one device; gives it back at the end.
class DpdkEnvironment {
  public:
    /// control::Failure(2) if `interface` is no device, (3) if DPDK does not start.
    DpdkEnvironment(control::Log& log, const FieldsSettings& settings) {
        cpu_set_t allowed;
        sched_getaffinity(0, sizeof allowed, &allowed);
        std::vector<std::string> arguments{"polysome", "--no-telemetry", "--log-level=lib.*:error"};
        if (!settings.cores.empty()) arguments.insert(arguments.end(), {"-l", std::to_string(settings.cores.front())});
        const bool pci = is_pci(settings.interface);
        if (pci) arguments.insert(arguments.end(), {"-a", settings.interface});
        if (!pci) arguments.insert(arguments.end(), {"--no-pci", "--vdev", settings.interface});
        if (pci || huge_pages()) {
            arguments.insert(arguments.end(), {"--in-memory"});
        } else {
            log.warning("no huge pages: packets are in small ones, which is slower");
            arguments.insert(arguments.end(), {"--no-huge", "-m", "256", "--no-shconf"});
        }
        std::vector<char*> pointers;
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        if (rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) < 0) {
            throw control::Failure(3, std::string("DPDK does not start: ") + rte_strerror(rte_errno) +
                                          "; are there huge pages, and is `interface` a device that it knows?");
        }
        // DPDK binds this thread to its core; those that are made from here on are not to share it.
        sched_setaffinity(0, sizeof allowed, &allowed);
        if (rte_eth_dev_count_avail() != 1) {
            rte_eal_cleanup();
            throw control::Failure(
                2, "`interface` names " + settings.interface + ", which DPDK does not have; is it bound to vfio-pci?");
        }
    }
    DpdkEnvironment(const DpdkEnvironment&) = delete;
    DpdkEnvironment& operator=(const DpdkEnvironment&) = delete;
    ~DpdkEnvironment() { rte_eal_cleanup(); }

  private:
    /// `[DOMAIN:]BUS:DEVICE.FUNCTION`, which no virtual device's name looks like.
    static bool is_pci(const std::string& interface) {
        return !interface.empty() && interface.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
    }
    static bool huge_pages() {
        std::ifstream meminfo("/proc/meminfo");
        for (std::string word; meminfo >> word;) {
            uint64_t count = 0;
            if (word == "HugePages_Free:" && meminfo >> count) return count != 0;
        }
        return false;
    }
};

template <class Nf>
class FieldsDpdkLoop final : public FieldsLoop {
  public:
    FieldsDpdkLoop(control::Log& log, const FieldsSettings& settings)
        : environment_(log, settings), cores_(settings.cores), burst_(ports_), host_(*this) {
        ports_.start(1, mtu);
        rte_ether_addr address{};
        uint16_t port = 0;
        RTE_ETH_FOREACH_DEV(port) rte_eth_macaddr_get(port, &address);
        std::copy_n(address.addr_bytes, mac_.size(), mac_.begin());
    }

    std::string configure(std::span<const uint8_t> blob) override { return host_.configure(blob); }
    Child check(std::span<const uint8_t> blob, std::span<const Sample> samples) override {
        return host_.check(blob, samples);
    }
    Child attempt(uint16_t port, std::span<const uint8_t> packet) override { return host_.attempt(port, packet); }
    FieldsStatistics statistics() override { return host_.statistics(ports_.missed(), ports_.lost); }
    std::array<uint8_t, 6> mac() override { return mac_; }
    std::vector<uint8_t> save() override { return host_.save(); }
    uint64_t clock_offset() const override { return host_.clock_offset(); }
    bool load(std::span<const uint8_t> state, uint64_t clock_offset) override {
        return host_.load(state, clock_offset);
    }

    void run(control::Mailbox& mailbox, Ending& ending) override {
        use_core(cores_);
        std::array<pollfd, 2> polled{{{mailbox.descriptor(), POLLIN, 0}, {ending.descriptor(), POLLIN, 0}}};
        uint64_t next_look = 0;
        while (!ending.over()) {
            receive();
            host_.advance();
            ports_.flush();
            if (host_.clock() < next_look) continue;
            next_look = host_.clock() + look_every;
            if (poll(polled.data(), polled.size(), 0) <= 0) continue;
            if (polled[0].revents != 0) mailbox.serve();
            if (polled[1].revents != 0) ending.look();
        }
        // What is still on its way to us, when nothing is sent any more.
        for (const uint64_t end = host_.clock() + finish; host_.clock() < end; ports_.flush()) receive();
    }

    void send(std::span<const uint8_t> frame, uint64_t order) { burst_.send(0, frame, order); }

  private:
    static constexpr uint64_t look_every = 200'000;  ///< ns, for commands
    static constexpr uint64_t finish = 5'000'000;    ///< ns
    static constexpr uint16_t mtu = 1'600;           ///< a whole frame: 26 bytes more than the largest packet

    void receive() {
        const uint16_t n = burst_.receive(0);
        if (n == 0) return;
        const uint64_t now = host_.clock();
        uint16_t taken = 0;
        for (uint16_t i = 0; i < n; ++i) {
            uint8_t* const bytes = burst_.bytes_of(i);
            const uint32_t size = burst_.size_of(i);
            if (!host_.accepts(bytes, size, mac_)) continue;
            burst_.swap(i, taken);
            arrivals_[taken++] = {now, bytes, size, Tag::port(bytes)};
        }
        burst_.begin(host_.next_order(), taken);
        host_.arrive({arrivals_.data(), taken});
        burst_.end(n);
    }

    DpdkEnvironment environment_;
    DpdkPorts ports_;
    std::vector<uint32_t> cores_;
    DpdkBurst burst_;
    FieldsHost<Nf, FieldsDpdkLoop> host_;
    std::array<uint8_t, 6> mac_{};
    std::array<Arrival, DpdkPorts::burst> arrivals_;
};

/// As fields_af_packet_main.
template <class Nf>
int fields_dpdk_main(int argc, char** argv, const std::string& name, std::string_view program) {
    return fields_main(argc, argv, name, {Nf::name, program, Nf::state_layout, Nf::port_names.size()},
                       [](control::Log& log, const FieldsSettings& settings) -> std::unique_ptr<FieldsLoop> {
                           return std::make_unique<FieldsDpdkLoop<Nf>>(log, settings);
                       });
}

}  // namespace polysome::host
