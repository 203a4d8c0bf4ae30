/// An NF as a DPDK program: POLYSOME_DPDK_HOST(Nf) defines its main.
///
///   PROGRAM [DPDK's arguments] -- [--config BLOB]
///
/// Logical port K is the K-th DPDK port, of any driver (also net_pcap, net_af_packet, net_ring, and without hugepages);
/// more ports than the NF has are an error, unless they are left out with DPDK's own arguments. One core polls all
/// ports, 64 packets at a time at most. Packets that are changed in place leave in the buffer in which they came.
///
/// Counters go to stdout at the end, a line every second to stderr. SIGHUP reads the config again, between two bursts;
/// SIGINT and SIGTERM end the program. Exit code 0; 2 for a wrong command line; 3 for the environment.
#pragma once

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <memory>

#include "host/common.hpp"
#include "host/live_clock.hpp"
#include "nf/machine.hpp"

namespace polysome::host {

/// DPDK ports that take and send bursts; frees what it cannot send, and counts it.
class DpdkPorts {
  public:
    static constexpr uint16_t burst = largest_batch;
    static constexpr uint16_t ring = 1024;
    static constexpr unsigned tries = 64;     ///< of a full transmit queue
    static constexpr uint32_t ethernet = 18;  ///< bytes of header and checksum, if a device does not say what it adds

    /// Starts the first `count` ports. `mtu`: of frames without Ethernet's header, as far as the device can; 0: its
    /// own.
    void start(size_t count, uint16_t mtu = 0) {
        uint16_t port;
        RTE_ETH_FOREACH_DEV(port) ids_.push_back(port);
        if (ids_.size() != count) {
            throw Failure(3, "the NF has " + std::to_string(count) + " ports, but DPDK has " +
                                 std::to_string(ids_.size()) +
                                 "; choose devices with -a, --vdev and --no-pci before `--`");
        }
        const unsigned buffers = static_cast<unsigned>(count) * (2 * ring + 4 * burst) + 2048;
        pool_ = rte_pktmbuf_pool_create("polysome", buffers, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                        static_cast<int>(rte_socket_id()));
        if (pool_ == nullptr) throw Failure(3, std::string("no memory for packets: ") + rte_strerror(rte_errno));
        queues_.resize(count);
        for (const uint16_t id : ids_) {
            if (const int error = start_port(id, mtu); error != 0) {
                throw Failure(3, "DPDK port " + std::to_string(id) + " does not start: " + rte_strerror(-error));
            }
            ++started_;
        }
    }

    ~DpdkPorts() {
        for (std::vector<rte_mbuf*>& queue : queues_)
            rte_pktmbuf_free_bulk(queue.data(), static_cast<unsigned>(queue.size()));
        for (size_t i = 0; i < started_; ++i) {
            rte_eth_dev_stop(ids_[i]);
            rte_eth_dev_close(ids_[i]);
        }
    }

    size_t size() const { return ids_.size(); }
    uint16_t receive(size_t port, rte_mbuf** packets) { return rte_eth_rx_burst(ids_[port], 0, packets, burst); }

    /// Takes `packet`; it leaves with the next flush(), and is unchanged until then.
    void send(size_t port, rte_mbuf* packet) { queues_[port].push_back(packet); }

    /// Sends a copy of `bytes`.
    void send_copy(size_t port, std::span<const uint8_t> bytes) {
        rte_mbuf* const packet = copy(bytes);
        if (packet == nullptr) {
            ++lost;
        } else {
            send(port, packet);
        }
    }

    void flush() {
        for (size_t port = 0; port < queues_.size(); ++port) {
            std::vector<rte_mbuf*>& queue = queues_[port];
            size_t done = 0;
            for (unsigned idle = 0; done < queue.size() && idle < tries;) {
                const auto some = static_cast<uint16_t>(std::min<size_t>(burst, queue.size() - done));
                const uint16_t sent = rte_eth_tx_burst(ids_[port], 0, queue.data() + done, some);
                done += sent;
                idle = sent == 0 ? idle + 1 : 0;
            }
            lost += queue.size() - done;
            rte_pktmbuf_free_bulk(queue.data() + done, static_cast<unsigned>(queue.size() - done));
            queue.clear();
        }
    }

    /// What the devices lost before the NF saw it, on all ports.
    uint64_t missed() const {
        uint64_t sum = 0;
        for (const uint16_t id : ids_) {
            rte_eth_stats stats{};
            if (rte_eth_stats_get(id, &stats) == 0) sum += stats.imissed + stats.ierrors + stats.rx_nombuf;
        }
        return sum;
    }

    uint64_t lost = 0;  ///< packets that a full queue, or the lack of buffers, kept from being sent

  private:
    int start_port(uint16_t id, uint16_t mtu) {
        rte_eth_conf conf{};
        rte_eth_dev_info info{};
        if (mtu != 0 && rte_eth_dev_info_get(id, &info) == 0) {
            const bool told = info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu;
            conf.rxmode.mtu = std::min<uint32_t>(mtu, told ? info.max_mtu : info.max_rx_pktlen - ethernet);
        }
        uint16_t receive = ring, transmit = ring;
        int error = rte_eth_dev_configure(id, 1, 1, &conf);
        if (error == 0) error = rte_eth_dev_adjust_nb_rx_tx_desc(id, &receive, &transmit);
        const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id));
        if (error == 0) error = rte_eth_rx_queue_setup(id, 0, receive, socket, nullptr, pool_);
        if (error == 0) error = rte_eth_tx_queue_setup(id, 0, transmit, socket, nullptr);
        if (error == 0) error = rte_eth_dev_start(id);
        // Not every device can; those that cannot hand over everything.
        if (error == 0) rte_eth_promiscuous_enable(id);
        return error;
    }

    /// In as many buffers as it takes; null if there are not enough.
    rte_mbuf* copy(std::span<const uint8_t> bytes) {
        rte_mbuf* const head = rte_pktmbuf_alloc(pool_);
        for (rte_mbuf* last = head; last != nullptr;) {
            const auto part = std::min<size_t>(bytes.size(), rte_pktmbuf_tailroom(last));
            std::copy_n(bytes.data(), part, rte_pktmbuf_mtod(last, uint8_t*));
            last->data_len = static_cast<uint16_t>(part);
            head->pkt_len += static_cast<uint32_t>(part);
            bytes = bytes.subspan(part);
            if (bytes.empty()) return head;
            last->next = rte_pktmbuf_alloc(pool_);
            last = last->next;
            ++head->nb_segs;
        }
        if (head != nullptr) {
            --head->nb_segs;  // the one that was not to be had
            rte_pktmbuf_free(head);
        }
        return nullptr;
    }

    std::vector<uint16_t> ids_;
    std::vector<std::vector<rte_mbuf*>> queues_;  ///< what the next flush sends
    rte_mempool* pool_ = nullptr;
    size_t started_ = 0;
};

/// A burst of received packets between their arrival and their departure: those that are changed in place leave in the
/// buffer in which they came.
class DpdkBurst {
  public:
    explicit DpdkBurst(DpdkPorts& ports) : ports_(ports) {}
    DpdkBurst(const DpdkBurst&) = delete;
    DpdkBurst& operator=(const DpdkBurst&) = delete;

    /// What has come to a port; returns how many packets. They are there until end().
    uint16_t receive(size_t port) {
        const uint16_t n = ports_.receive(port, packets_.data());
        for (uint16_t i = 0; i < n; ++i) rte_prefetch0(rte_pktmbuf_mtod(packets_[i], const void*));
        return n;
    }

    uint32_t size_of(uint16_t i) const { return packets_[i]->pkt_len; }
    /// The frame in one piece that may be changed: packet `i`'s own bytes, or a copy of a packet in several buffers, or
    /// in one that others look at too.
    uint8_t* bytes_of(uint16_t i) {
        rte_mbuf* const packet = packets_[i];
        in_place_[i] = nullptr;
        if (packet->nb_segs == 1 && RTE_MBUF_DIRECT(packet) && rte_mbuf_refcnt_read(packet) == 1) {
            return in_place_[i] = rte_pktmbuf_mtod(packet, uint8_t*);
        }
        copies_[i].resize(packet->pkt_len);
        uint8_t* const copy = copies_[i].data();
        const void* const bytes = rte_pktmbuf_read(packet, 0, packet->pkt_len, copy);
        if (bytes != copy) std::copy_n(static_cast<const uint8_t*>(bytes), packet->pkt_len, copy);
        return copy;
    }
    /// Packet `i`, whose bytes were asked for, changes places with an earlier one.
    void swap(uint16_t i, uint16_t earlier) {
        if (i == earlier) return;
        std::swap(packets_[i], packets_[earlier]);
        std::swap(in_place_[i], in_place_[earlier]);
        std::swap(copies_[i], copies_[earlier]);
    }

    /// Packets 0 to `count` - 1 are given to a machine now, as its packets from number `first` on.
    void begin(uint64_t first, uint64_t count) {
        first_ = first;
        count_ = count;
    }
    /// `bytes` leave by a port: packet `order` of the machine, or something else.
    void send(size_t port, std::span<const uint8_t> bytes, uint64_t order) {
        const uint64_t place = order - first_;
        if (place >= count_ || packets_[place] == nullptr || bytes.data() != in_place_[place]) {
            return ports_.send_copy(port, bytes);
        }
        rte_mbuf* const packet = packets_[place];
        packets_[place] = nullptr;
        packet->data_len = static_cast<uint16_t>(bytes.size());
        packet->pkt_len = static_cast<uint32_t>(bytes.size());
        packet->ol_flags = 0;
        ports_.send(port, packet);
    }
    /// `n` as received: what does not leave is freed.
    void end(uint16_t n) {
        count_ = 0;
        rte_pktmbuf_free_bulk(packets_.data(), n);  // passes over those that leave, which are null
        ports_.flush();
    }

  private:
    DpdkPorts& ports_;
    std::array<rte_mbuf*, DpdkPorts::burst> packets_{};  ///< null once one is to leave
    std::array<uint8_t*, DpdkPorts::burst> in_place_{};  ///< where one's own bytes are, null if a copy is used
    std::array<std::vector<uint8_t>, DpdkPorts::burst> copies_;
    uint64_t first_ = 0;  ///< the machine has packets first_ to first_ + count_ - 1
    uint64_t count_ = 0;
};

/// Drives one machine from DPDK ports; the machine's sink.
template <class Nf>
class DpdkHost {
  public:
    explicit DpdkHost(DpdkPorts& ports) : ports_(ports), burst_(ports), machine_(*this) {}

    Machine<Nf, DpdkHost>& machine() { return machine_; }

    /// Until it is asked to stop. `config`: the file that SIGHUP reads again; empty if there is none.
    void run(const std::string& config) {
        Statistics statistics;
        while (!stop_asked) {
            if (reload_asked.exchange(false)) reload(config);
            for (size_t port = 0; port < ports_.size(); ++port) poll(static_cast<uint16_t>(port));
            machine_.advance(clock_.now());
            ports_.flush();
            statistics.tick(machine_);
        }
        print_counters<Nf>(stdout, machine_.counters(), machine_.held());
        std::printf("%-40s %14llu\n%-40s %14llu\n", "lost before they were received", number(ports_.missed()),
                    "not taken for sending", number(ports_.lost));
    }

    // ---- for the machine

    void left(uint16_t port, uint64_t, std::span<const uint8_t> bytes, uint64_t order) {
        burst_.send(port, bytes, order);
    }
    void emitted(uint16_t port, uint64_t, std::span<const uint8_t> bytes, uint64_t) { ports_.send_copy(port, bytes); }
    void dropped(uint64_t, uint16_t) {}
    void decided(uint64_t, uint64_t, const typename Nf::Packet&) {}

  private:
    void poll(uint16_t port) {
        const uint16_t n = burst_.receive(port);
        if (n == 0) return;
        const uint64_t now = clock_.now();
        for (uint16_t i = 0; i < n; ++i) arrivals_[i] = {now, burst_.bytes_of(i), burst_.size_of(i), port};
        burst_.begin(machine_.counters().packets_in, n);
        machine_.arrive(std::span(arrivals_).first(n));
        burst_.end(n);
    }

    void reload(const std::string& config) {
        try {
            if (config.empty()) throw Failure(2, "no --config was given");
            machine_.advance(clock_.now());
            const bool fits = machine_.configure(read_file(config));
            std::fprintf(stderr, fits ? "config replaced\n" : "the config is not one of this NF: it stays as it was\n");
        } catch (const Failure& failure) {
            std::fprintf(stderr, "%s: the config stays as it was\n", failure.what());
        }
    }

    static unsigned long long number(uint64_t value) { return value; }

    DpdkPorts& ports_;
    DpdkBurst burst_;
    Machine<Nf, DpdkHost> machine_;
    LiveClock clock_;
    std::array<Arrival, DpdkPorts::burst> arrivals_{};
};

template <class Nf>
void dpdk_host(std::span<char*> arguments) {
    std::string config;
    for (size_t i = 0; i < arguments.size(); i += 2) {
        const std::string_view name = arguments[i];
        if (name != "--config") {
            throw Failure(
                2, "no option `" + std::string(name) + "`; behind DPDK's arguments and `--` there is --config BLOB");
        }
        if (i + 1 == arguments.size()) throw Failure(2, "--config needs a value");
        config = arguments[i + 1];
    }
    DpdkPorts ports;
    const auto host = std::make_unique<DpdkHost<Nf>>(ports);
    if (!host->machine().configure(config.empty() ? std::vector<uint8_t>{} : read_file(config))) {
        throw Failure(3, "the config is not one of this NF");
    }
    ports.start(Nf::port_names.size());
    watch_signals(true);
    host->run(config);
}

/// The program; see the head of this file.
template <class Nf>
int dpdk_main(int argc, char** argv) {
    const int taken = rte_eal_init(argc, argv);
    if (taken < 0) {
        std::fprintf(stderr, "DPDK does not start: %s\n", rte_strerror(rte_errno));
        return 3;
    }
    const auto arguments =
        std::span(argv, static_cast<size_t>(argc)).subspan(static_cast<size_t>(std::min(taken + 1, argc)));
    const int code = run_host(Nf::name, [&] { dpdk_host<Nf>(arguments); });
    rte_eal_cleanup();
    return code;
}

}  // namespace polysome::host

/// The main function of a program that runs `Nf`, a generated NF, on DPDK ports.
#define POLYSOME_DPDK_HOST(Nf) \
    int main(int argc, char** argv) { return polysome::host::dpdk_main<Nf>(argc, argv); }
