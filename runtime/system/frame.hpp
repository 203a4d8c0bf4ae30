/// Frames on their way, what kind they are, and what the simulator knows of them beside their bytes.
#pragma once

#include <array>
#include <span>

#include "nf/buffer_pool.hpp"
#include "nf/fields_frames.hpp"
#include "rdma/roce.hpp"
#include "system/time.hpp"

namespace polysome::system {

/// What a frame is about. The simulator's knowledge only: no part of the system that is simulated sees it. Copies that
/// the switch makes of a frame inherit its mark; a server's answer has the mark of what it answers.
struct Mark {
    enum Kind : uint8_t { nothing, packet, decision, emission };

    /// `number`: of the packet as it arrived, of the decision about one, of the packet that the NF made; all from 0.
    static constexpr uint64_t of(Kind kind, uint64_t number) { return uint64_t{kind} << 62 | number; }
    static constexpr Kind kind(uint64_t mark) { return static_cast<Kind>(mark >> 62); }
    static constexpr uint64_t number(uint64_t mark) { return mark & ~(uint64_t{3} << 62); }
};

/// Kinds of frames, as the report counts them.
enum class Kind : uint8_t { packet, fields, edits, whole, own, write, read, response, ack, nak, other };
inline constexpr size_t kinds = static_cast<size_t>(Kind::other) + 1;
inline constexpr std::array<const char*, kinds> kind_names = {"packet", "fields",   "edits", "whole", "own",  "write",
                                                              "read",   "response", "ack",   "nak",   "other"};

/// A frame that someone owns: its bytes are the pool's.
struct Frame {
    uint8_t* data = nullptr;
    uint32_t size = 0;
    Kind kind = Kind::other;  ///< what it was when it was sent
    bool flipped = false;     ///< some of its bits are not what was sent
    uint64_t mark = 0;

    std::span<const uint8_t> bytes() const { return {data, size}; }
};

inline Frame copied(BufferPool& pool, std::span<const uint8_t> bytes, Kind kind, uint64_t mark) {
    return {pool.copy(bytes.data(), bytes.size()), static_cast<uint32_t>(bytes.size()), kind, false, mark};
}
inline void give_back(BufferPool& pool, const Frame& frame) { pool.give_back(frame.data, frame.size); }

/// What a link is for, and which way: from the switch (`to_*`) or to it.
enum class Role : uint8_t { traffic, to_nf, from_nf, to_server, from_server };

inline Kind kind_on_nf_link(std::span<const uint8_t> bytes, bool to_nf) {
    if (!Tag::is_ours(bytes.data(), bytes.size())) return Kind::other;
    switch (Tag::flags(bytes.data())) {
        case Tag::split:
            return to_nf ? Kind::fields : Kind::edits;
        case Tag::whole:
            return Kind::whole;
        case Tag::own:
            return to_nf ? Kind::other : Kind::own;
        default:
            return Kind::other;
    }
}

/// Requests of the switch and answers to it; servers may talk RDMA with others.
inline Kind kind_on_server_link(std::span<const uint8_t> bytes, const rdma::Mac& switch_mac, bool to_server) {
    using protocol::Ethernet, protocol::Udp;
    constexpr size_t udp = rdma::BTH_AT - rdma::UDP_SIZE;
    if (bytes.size() < rdma::EXTENSION_AT + rdma::AETH_SIZE) return Kind::other;
    const uint8_t* const address = bytes.data() + (to_server ? 6 : 0);
    if (!std::equal(switch_mac.begin(), switch_mac.end(), address)) return Kind::other;
    if (Ethernet::ether_type::read(bytes.data()) != 0x0800 || Udp::dport::read(bytes.data() + udp) != rdma::ROCE_PORT) {
        return Kind::other;
    }
    switch (static_cast<rdma::Opcode>(bytes[rdma::BTH_AT])) {
        case rdma::Opcode::write_only:
            return to_server ? Kind::write : Kind::other;
        case rdma::Opcode::read_request:
            return to_server ? Kind::read : Kind::other;
        case rdma::Opcode::read_response_only:
            return to_server ? Kind::other : Kind::response;
        case rdma::Opcode::acknowledge:
            if (to_server) return Kind::other;
            return rdma::answer_of(bytes[rdma::EXTENSION_AT]) == rdma::Answer::ack ? Kind::ack : Kind::nak;
        default:
            return Kind::other;
    }
}

inline Kind kind_of(std::span<const uint8_t> bytes, Role role, const rdma::Mac& switch_mac) {
    switch (role) {
        case Role::traffic:
            return Kind::packet;
        case Role::to_nf:
        case Role::from_nf:
            return kind_on_nf_link(bytes, role == Role::to_nf);
        default:
            return kind_on_server_link(bytes, switch_mac, role == Role::to_server);
    }
}

}  // namespace polysome::system
