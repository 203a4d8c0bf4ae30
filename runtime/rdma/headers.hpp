/// The transport headers of InfiniBand that RoCEv2 carries (IBTA volume 1, chapter 9): BTH, RETH, AETH.
///
/// Values are in host order here; read and write work on the big-endian bytes of the wire.
#pragma once

#include <cstdint>

#include "nf/bits.hpp"

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
    write_only = 0x0a,
    write_only_immediate = 0x0b,
    read_request = 0x0c,
    read_response_first = 0x0d,
    read_response_middle = 0x0e,
    read_response_last = 0x0f,
    read_response_only = 0x10,
    acknowledge = 0x11,
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

inline constexpr size_t BTH_SIZE = 12, RETH_SIZE = 16, AETH_SIZE = 4;

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

inline constexpr uint32_t PSN_MASK = 0xffffff;    ///< of packet sequence, message sequence and queue pair numbers
inline constexpr uint16_t DEFAULT_PKEY = 0xffff;  ///< the default partition, full member

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
    const uint32_t to = load<uint32_t>(p + 4), sequence = load<uint32_t>(p + 8);
    return {.opcode = static_cast<Opcode>(p[0]),
            .solicited = (p[1] & 0x80) != 0,
            .migrated = (p[1] & 0x40) != 0,
            .pad = static_cast<uint8_t>(p[1] >> 4 & 3),
            .version = static_cast<uint8_t>(p[1] & 15),
            .pkey = load<uint16_t>(p + 2),
            .fecn = (to >> 31) != 0,
            .becn = (to >> 30 & 1) != 0,
            .qpn = to & PSN_MASK,
            .ack_request = (sequence >> 31) != 0,
            .psn = sequence & PSN_MASK};
}

inline void write_bth(uint8_t* p, const Bth& bth) {
    p[0] = static_cast<uint8_t>(bth.opcode);
    p[1] = static_cast<uint8_t>(bth.solicited << 7 | bth.migrated << 6 | (bth.pad & 3) << 4 | (bth.version & 15));
    store(p + 2, bth.pkey);
    store(p + 4, uint32_t{bth.fecn} << 31 | uint32_t{bth.becn} << 30 | (bth.qpn & PSN_MASK));
    store(p + 8, uint32_t{bth.ack_request} << 31 | (bth.psn & PSN_MASK));
}

inline Reth read_reth(const uint8_t* p) {
    return {.address = load<uint64_t>(p), .rkey = load<uint32_t>(p + 8), .length = load<uint32_t>(p + 12)};
}

inline void write_reth(uint8_t* p, const Reth& reth) {
    store(p, reth.address);
    store(p + 8, reth.rkey);
    store(p + 12, reth.length);
}

inline Aeth read_aeth(const uint8_t* p) { return {.syndrome = p[0], .msn = load<uint32_t>(p) & PSN_MASK}; }

inline void write_aeth(uint8_t* p, const Aeth& aeth) {
    store(p, uint32_t{aeth.syndrome} << 24 | (aeth.msn & PSN_MASK));
}

}  // namespace polysome::rdma
