/// The transport headers of InfiniBand that RoCEv2 carries (IBTA volume 1, chapter 9): BTH, RETH, AETH.
///
/// Values are in host order here; read and write work on the big-endian bytes of the wire.
#pragma once

#include <cstdint>

#include "nf/bits.hpp"
#include "protocol/protocol.hpp"

namespace polysome::rdma {

/// Opcodes of the reliable connected transport (section 9.2.1); the upper three bits, zero, are what names it.
enum class Opcode : uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_last_immediate = 0x03,
    send_only = 0x04,
    send_only_immediate = 0x05,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    write_last_immediate = 0x09,
    write_only = protocol::opcodes::write,
    write_only_immediate = 0x0b,
    read_request = protocol::opcodes::read,
    read_response_first = 0x0d,
    read_response_middle = 0x0e,
    read_response_last = 0x0f,
    read_response_only = protocol::opcodes::response,
    acknowledge = protocol::opcodes::acknowledge,
    atomic_acknowledge = 0x12,
    compare_swap = 0x13,
    fetch_add = 0x14,
    send_last_invalidate = 0x16,
    send_only_invalidate = 0x17,
};

constexpr bool is_reliable_connected(Opcode opcode) { return static_cast<uint8_t>(opcode) >> 5 == 0; }

/// What a responder sends; every other opcode of the transport, reserved ones too, asks for something.
constexpr bool is_response(Opcode opcode) {
    return opcode >= Opcode::read_response_first && opcode <= Opcode::atomic_acknowledge;
}

constexpr bool has_reth(Opcode opcode) {
    switch (opcode) {
        case Opcode::write_first:
        case Opcode::write_only:
        case Opcode::write_only_immediate:
        case Opcode::read_request:
            return true;
        default:
            return false;
    }
}

/// The middle of a READ's responses is the only response without one.
constexpr bool has_aeth(Opcode opcode) { return is_response(opcode) && opcode != Opcode::read_response_middle; }

inline constexpr size_t BTH_SIZE = protocol::Bth::size, RETH_SIZE = protocol::Reth::size;
inline constexpr size_t AETH_SIZE = protocol::Aeth::size;

/// The bytes between the BTH and the payload. Immediate data, an invalidated key, atomic operands and
/// results are known by their size only. 0 for what is not reliable connected.
constexpr size_t extension_size(Opcode opcode) {
    switch (opcode) {
        case Opcode::write_only_immediate:
            return RETH_SIZE + 4;
        case Opcode::send_last_immediate:
        case Opcode::send_only_immediate:
        case Opcode::write_last_immediate:
        case Opcode::send_last_invalidate:
        case Opcode::send_only_invalidate:
            return 4;
        case Opcode::compare_swap:
        case Opcode::fetch_add:
            return 28;
        case Opcode::atomic_acknowledge:
            return AETH_SIZE + 8;
        default:
            return has_reth(opcode) ? RETH_SIZE : has_aeth(opcode) ? AETH_SIZE : 0;
    }
}

/// Of packet sequence, message sequence and queue pair numbers.
inline constexpr uint32_t PSN_MASK = protocol::Bth::psn::mask;
inline constexpr uint16_t DEFAULT_PKEY = protocol::roce::partition;  ///< the default one, full member

/// Base transport header (section 9.2).
struct Bth {
    Opcode opcode = Opcode::acknowledge;
    bool solicited = false;
    bool migrated = true;  ///< M: no path migration under way
    uint8_t pad = 0;       ///< bytes of zeros (0 to 3) after the payload
    uint8_t version = 0;
    uint16_t pkey = DEFAULT_PKEY;
    bool fecn = false, becn = false;  ///< congestion, forward and backward; not under the ICRC
    uint32_t qpn = 0;                 ///< 24 bits: of the queue pair that the packet goes to
    bool ack_request = false;
    uint32_t psn = 0;  ///< 24 bits
    bool operator==(const Bth&) const = default;
};

/// RDMA extended transport header (section 9.3.3).
struct Reth {
    uint64_t address = 0;  ///< of the region, whose first byte is 0
    uint32_t rkey = 0;
    uint32_t length = 0;  ///< of the whole message
    bool operator==(const Reth&) const = default;
};

/// The codes of a NAK (section 9.7.5.2).
enum class Nak : uint8_t {
    sequence_error = 0,
    invalid_request = 1,
    remote_access_error = 2,
    remote_operational_error = 3,
    invalid_rd_request = 4,
};
inline constexpr size_t NAK_CODES = 5;

/// ACK extended transport header (section 9.3.5). Its syndrome is `0 kind:2 value:5`.
struct Aeth {
    uint8_t syndrome = 0;
    uint32_t msn = 0;  ///< 24 bits
    bool operator==(const Aeth&) const = default;
};

/// What a syndrome says.
enum class Answer : uint8_t { ack = 0, receiver_not_ready = 1, reserved = 2, nak = 3 };

constexpr Answer answer_of(uint8_t syndrome) { return static_cast<Answer>(syndrome >> 5 & 3); }
/// The credits of an ACK, the timer of an RNR NAK, the code of a NAK.
constexpr uint8_t value_of(uint8_t syndrome) { return syndrome & 0x1f; }

constexpr uint8_t syndrome(Answer answer, uint8_t value) {
    return static_cast<uint8_t>(static_cast<uint8_t>(answer) << 5 | (value & 0x1f));
}
/// An ACK without a count of credits: there are no receives to be counted (section 9.7.7.2).
inline constexpr uint8_t ACK_SYNDROME = syndrome(Answer::ack, 0x1f);
constexpr uint8_t nak_syndrome(Nak code) { return syndrome(Answer::nak, static_cast<uint8_t>(code)); }

inline Bth read_bth(const uint8_t* p) {
    using At = protocol::Bth;
    const uint8_t flags = At::flags::read(p), congestion = At::reserved::read(p);
    return {.opcode = static_cast<Opcode>(At::opcode::read(p)),
            .solicited = (flags & 0x80) != 0,
            .migrated = (flags & protocol::roce::flags) != 0,
            .pad = static_cast<uint8_t>(flags >> 4 & 3),
            .version = static_cast<uint8_t>(flags & 15),
            .pkey = At::partition::read(p),
            .fecn = (congestion & 0x80) != 0,
            .becn = (congestion & 0x40) != 0,
            .qpn = At::queue_pair::read(p),
            .ack_request = (At::ack_request::read(p) & protocol::roce::ack_request) != 0,
            .psn = At::psn::read(p)};
}

inline void write_bth(uint8_t* p, const Bth& bth) {
    using At = protocol::Bth;
    const uint8_t migrated = bth.migrated ? protocol::roce::flags : uint8_t{0};
    At::opcode::write(p, static_cast<uint8_t>(bth.opcode));
    At::flags::write(p, static_cast<uint8_t>(bth.solicited << 7 | migrated | (bth.pad & 3) << 4 | (bth.version & 15)));
    At::partition::write(p, bth.pkey);
    At::reserved::write(p, static_cast<uint8_t>(bth.fecn << 7 | bth.becn << 6));
    At::queue_pair::write(p, bth.qpn);
    At::ack_request::write(p, bth.ack_request ? protocol::roce::ack_request : uint8_t{0});
    At::psn::write(p, bth.psn);
}

inline Reth read_reth(const uint8_t* p) {
    using At = protocol::Reth;
    return {.address = uint64_t{At::address_high::read(p)} << 32 | At::address::read(p),
            .rkey = At::key::read(p),
            .length = uint32_t{At::length_high::read(p)} << 16 | At::length::read(p)};
}

inline void write_reth(uint8_t* p, const Reth& reth) {
    using At = protocol::Reth;
    At::address_high::write(p, static_cast<uint32_t>(reth.address >> 32));
    At::address::write(p, static_cast<uint32_t>(reth.address));
    At::key::write(p, reth.rkey);
    At::length_high::write(p, static_cast<uint16_t>(reth.length >> 16));
    At::length::write(p, static_cast<uint16_t>(reth.length));
}

inline Aeth read_aeth(const uint8_t* p) {
    return {.syndrome = protocol::Aeth::syndrome::read(p), .msn = protocol::Aeth::msn::read(p)};
}

inline void write_aeth(uint8_t* p, const Aeth& aeth) {
    protocol::Aeth::syndrome::write(p, aeth.syndrome);
    protocol::Aeth::msn::write(p, aeth.msn);
}

}  // namespace polysome::rdma
