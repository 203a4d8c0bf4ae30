/// What a network function of the bench is fed with: first all flows are opened, then the trace runs.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "traffic.hpp"

namespace polysome::bench {

/// The traffic of a network function.
struct Shape {
    uint32_t vip = 0;         ///< where all packets go to; 0: each flow has its own destination
    bool tcp = false;         ///< only TCP
    bool replies = false;     ///< half the packets are replies, which arrive at port 1
    bool handshake = false;   ///< TCP flows are opened by a handshake
    bool translated = false;  ///< replies go to the source that the network function gave the flow

    Tuple tuple(uint32_t flow) const {
        Tuple t = tuple_of(flow, vip);
        if (tcp) t.protocol = TCP;
        return t;
    }
};

inline Shape shape_of(std::string_view nf) {
    return {.vip = nf == "load_balancer" ? 0x0a000064u : 0,
            .tcp = nf == "conn_limiter",
            .replies = nf == "nat" || nf == "firewall" || nf == "conn_limiter",
            .handshake = nf == "firewall" || nf == "conn_limiter",
            .translated = nf == "nat"};
}

/// What is measured.
struct Traffic {
    Shape shape;
    uint32_t flows = 65536;
    bool zipf = false;

    /// Do their entries, of about 100 bytes each, lie beyond the last cache level?
    bool far() const { return flows > 262144; }
};

/// A batch of frames where the network function finds them and may change them.
struct Buffers {
    alignas(64) std::array<Frame, MOST> frames;
    std::array<Packet, MOST> packets;

    void put(size_t i, uint8_t port) { packets[i] = {frames[i].data(), FRAME, port, DROP}; }
    std::span<Packet> first(size_t n) { return {packets.data(), n}; }
};

inline constexpr size_t OPENED = 32;  ///< flows opened in one batch

/// The public endpoints of flows, as a NAT gave them: address and port. Empty if it translates nothing.
using Publics = std::vector<std::pair<uint32_t, uint16_t>>;

inline Publics no_publics(const Traffic& traffic) { return Publics(traffic.shape.translated ? traffic.flows : 0); }

/// Opens all flows by `run(std::span<Packet>)`; with a handshake, in three rounds. What leaves is noted in `publics`.
template <class Run>
void open_flows(const Traffic& traffic, Publics& publics, Run&& run) {
    const Shape& shape = traffic.shape;
    Buffers buffers;
    for (int round = 0; round < (shape.handshake ? 3 : 1); ++round) {
        const bool reply = round == 1;
        const uint8_t flags = !shape.handshake ? ACK : round == 0 ? SYN : reply ? SYN | ACK : ACK;
        for (uint32_t flow = 0; flow < traffic.flows; flow += OPENED) {
            const size_t n = std::min<size_t>(OPENED, traffic.flows - flow);
            for (size_t i = 0; i < n; ++i) {
                const Tuple t = shape.tuple(flow + static_cast<uint32_t>(i));
                buffers.frames[i] = make_frame(reply ? t.reversed() : t, flags);
                buffers.put(i, reply);
            }
            run(buffers.first(n));
            if (!shape.translated) continue;
            for (size_t i = 0; i < n; ++i) {
                const uint8_t* f = buffers.frames[i].data();
                if (buffers.packets[i].out != DROP) publics[flow + i] = {load32(f + 26), load16(f + 34)};
            }
        }
    }
}

/// The frames in the order of arrival, and for each the port where it does.
struct Trace {
    std::vector<uint32_t> order;  ///< flows
    Frame* frames = nullptr;
    std::vector<uint8_t> ports;

    /// Without frames.
    explicit Trace(std::vector<uint32_t> flows) : order(std::move(flows)) {}
    Trace(const Traffic& traffic, const Publics& publics) : order(make_order(traffic.flows, traffic.zipf)) {
        frames = large_array<Frame>(order.size());
        ports.resize(order.size());
        for (size_t i = 0; i < order.size(); ++i) {
            Tuple t = traffic.shape.tuple(order[i]);
            ports[i] = traffic.shape.replies && (i * 0x9e3779b97f4a7c15 >> 63) != 0;
            if (ports[i]) {
                t = t.reversed();
                if (traffic.shape.translated) std::tie(t.dst, t.dport) = publics[order[i]];
            }
            frames[i] = make_frame(t);
        }
    }
    /// `count` of them, from `at` on.
    void copy(size_t at, size_t count, Buffers& buffers) const {
        for (size_t i = 0; i < count; ++i) {
            buffers.frames[i] = frames[at + i];  // 64 bytes: no call, which may copy large ones in another way
            buffers.put(i, ports[at + i]);
        }
    }
};

}  // namespace polysome::bench
