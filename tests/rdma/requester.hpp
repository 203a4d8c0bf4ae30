/// The other end of a responder, for tests: makes requests, reads answers.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "rdma/responder.hpp"

namespace requester {

using namespace polysome;
using namespace polysome::rdma;

using Bytes = std::vector<uint8_t>;

inline constexpr Mac SERVER_MAC = {2, 0, 0, 0, 0, 2}, SWITCH_MAC = {2, 0, 0, 0, 0, 1};
inline constexpr uint32_t SERVER_IP = 0xc0a82802, SWITCH_IP = 0xc0a828fe;
inline constexpr uint32_t QPN = 0x123456, PEER_QPN = 0x00abcd, RKEY = 0xfeedf00d;
inline constexpr Peer PEER = {SWITCH_MAC, SWITCH_IP, PEER_QPN};

inline Config small_config() {
    return {.mac = SERVER_MAC, .ip = SERVER_IP, .mtu = 256, .region_size = 8192, .rkey = RKEY};
}

/// Bytes from hexadecimal digits; spaces do not count.
inline Bytes hex(std::string_view text) {
    Bytes bytes;
    int high = -1;
    for (const char c : text) {
        if (c == ' ') continue;
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        if (high >= 0) bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
        high = high >= 0 ? -1 : digit;
    }
    return bytes;
}

/// `size` bytes that differ from each other and, by `seed`, from others.
inline Bytes pattern(size_t size, size_t seed = 0) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 256 * 3 + seed * 31 + 1);
    return bytes;
}

inline Bytes built(const Frame& frame) {
    Bytes bytes(frame_size(frame));
    bytes.resize(build(frame, bytes));
    return bytes;
}

/// A request frame's headers.
inline Frame request(Opcode opcode, uint32_t psn, bool ack_request = true) {
    Frame frame;
    frame.destination = SERVER_MAC;
    frame.source = SWITCH_MAC;
    frame.destination_ip = SERVER_IP;
    frame.source_ip = SWITCH_IP;
    frame.bth.opcode = opcode;
    frame.bth.qpn = QPN;
    frame.bth.psn = psn;
    frame.bth.ack_request = ack_request;
    return frame;
}

/// `length`: the DMA length, the payload's unless it is given.
inline Bytes write_request(Opcode opcode, uint32_t psn, const Bytes& payload, uint64_t address = 0,
                           std::optional<uint32_t> length = {}, bool ack_request = true, uint32_t rkey = RKEY) {
    Frame frame = request(opcode, psn, ack_request);
    frame.reth = {address, rkey, length.value_or(static_cast<uint32_t>(payload.size()))};
    frame.payload = payload;
    return built(frame);
}

inline Bytes write_only(uint32_t psn, const Bytes& payload, uint64_t address = 0) {
    return write_request(Opcode::write_only, psn, payload, address);
}

inline Bytes read_request(uint32_t psn, uint64_t address, uint32_t length, uint32_t rkey = RKEY) {
    Frame frame = request(Opcode::read_request, psn);
    frame.reth = {address, rkey, length};
    return built(frame);
}

/// A frame of `bytes` after a test has changed them: its checksums are made good again.
inline Bytes resealed(Bytes bytes) {
    uint8_t* const ip = bytes.data() + ETHERNET_SIZE;
    store(ip + 10, uint16_t{0});
    store(ip + 10, checksum({ip, IPV4_SIZE}));
    seal(datagram(std::span(bytes)));
    return bytes;
}

/// An answer, with its bytes.
struct Seen {
    Bytes bytes;
    Frame frame;
    uint64_t at = 0;

    bool is_ack() const {
        return frame.bth.opcode == Opcode::acknowledge && answer_of(frame.aeth.syndrome) == Answer::ack;
    }
    std::optional<Nak> nak() const {
        if (frame.bth.opcode != Opcode::acknowledge || answer_of(frame.aeth.syndrome) != Answer::nak) return {};
        return static_cast<Nak>(value_of(frame.aeth.syndrome));
    }
    Bytes payload() const { return Bytes(frame.payload.begin(), frame.payload.end()); }
};

/// A responder with one queue pair, and what it has answered since it was last asked.
class Bench {
  public:
    explicit Bench(const Config& config = small_config(), uint32_t psn = 0) : nic(config) { nic.add(QPN, PEER, psn); }

    /// What the responder emits on `bytes`. An answer that is no good frame is given as it is, without its headers.
    std::vector<Seen> send(const Bytes& bytes, uint64_t now = 0) {
        std::vector<Seen> seen;
        nic.receive(bytes, now, [&](std::span<const uint8_t> frame) { seen.push_back(taken(frame, now)); });
        return seen;
    }

    std::vector<Seen> advance(uint64_t now) {
        std::vector<Seen> seen;
        nic.advance(now, [&](std::span<const uint8_t> frame) { seen.push_back(taken(frame, now)); });
        return seen;
    }

    Bytes memory(uint64_t address, uint64_t length) const {
        const auto bytes = nic.region().at(address, length);
        return Bytes(bytes.begin(), bytes.end());
    }

    const QueuePair& pair() const { return nic.pair(0); }
    uint64_t dropped(Drop why) const { return nic.counters().dropped(why); }

    Responder nic;

  private:
    static Seen taken(std::span<const uint8_t> frame, uint64_t now) {
        Seen seen{Bytes(frame.begin(), frame.end()), {}, now};
        const bool good =
            parse(seen.bytes, seen.frame) == Flaw::none && icrc_holds(datagram(std::span<const uint8_t>(seen.bytes)));
        if (!good) seen.frame = {};
        return seen;
    }
};

}  // namespace requester
