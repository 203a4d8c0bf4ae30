/// The responder's half of a reliable connected queue pair (IBTA volume 1, section 9.7): numbers, the rules that judge
/// a request, and the answers that wait for their time.
#pragma once

#include <deque>
#include <vector>

#include "rdma/roce.hpp"

namespace polysome::rdma {

/// The requester at the other end: where answers go.
struct Peer {
    Mac mac{};
    uint32_t ip = 0;
    uint32_t qpn = 0;
};

enum class State : uint8_t {
    reset,  ///< after the server lost its memory, until the agent resets it
    ready,  ///< RTR and RTS
    error,  ///< after a fatal NAK
};

/// What the PSN of a request says of it.
enum class Arrival : uint8_t { expected, duplicate, future };

/// Half of the numbers are behind the expected one: duplicates (section 9.7.2).
constexpr Arrival arrival(uint32_t psn, uint32_t expected) {
    const uint32_t ahead = (psn - expected) & PSN_MASK;
    if (ahead == 0) return Arrival::expected;
    return ahead <= PSN_MASK / 2 ? Arrival::future : Arrival::duplicate;
}

/// How many responses, and so PSNs, a READ of `length` bytes takes: one if it reads nothing.
constexpr uint32_t read_packets(uint32_t length, uint32_t mtu) {
    return length == 0 ? 1 : static_cast<uint32_t>((uint64_t{length} + mtu - 1) / mtu);
}

/// The opcode of a READ's response `i` of `n`.
constexpr Opcode response_opcode(uint32_t i, uint32_t n) {
    if (n == 1) return Opcode::read_response_only;
    if (i == 0) return Opcode::read_response_first;
    return i + 1 == n ? Opcode::read_response_last : Opcode::read_response_middle;
}

constexpr bool is_write(Opcode opcode) {
    return opcode == Opcode::write_first || opcode == Opcode::write_middle || opcode == Opcode::write_last ||
           opcode == Opcode::write_only;
}
constexpr bool starts(Opcode opcode) { return opcode != Opcode::write_middle && opcode != Opcode::write_last; }
constexpr bool ends(Opcode opcode) { return opcode != Opcode::write_first && opcode != Opcode::write_middle; }

/// Whether a WRITE's packet has as many bytes as it must: all that `remain` of the message in its last one, a full MTU
/// in any other, which leaves something for the last.
constexpr bool write_length_fits(bool last, size_t bytes, uint64_t remain, uint32_t mtu) {
    return last ? bytes == remain && bytes <= mtu : bytes == mtu && remain > mtu;
}

/// The longest message, 2^31 bytes.
inline constexpr uint32_t LONGEST_MESSAGE = 0x80000000;

/// An answer to a request: an ACK or NAK, or all responses of a READ.
struct Reply {
    uint64_t due = 0;  ///< ns
    bool is_read = false;
    uint8_t syndrome = ACK_SYNDROME;
    uint32_t psn = 0, msn = 0;
    std::span<const uint8_t> data{};  ///< of a READ
    std::vector<uint8_t> copy{};      ///< where `data` is while it waits
};

struct QueuePair {
    uint32_t qpn = 0;
    Peer peer;
    State state = State::ready;
    uint32_t expected_psn = 0;
    uint32_t msn = 0;
    bool gap_told = false;        ///< a sequence NAK went out; silence until the expected PSN comes
    bool failing = false;         ///< the next new request meets a broken device
    bool writing = false;         ///< between the first and the last packet of a WRITE
    uint64_t address = 0;         ///< of the WRITE's next byte
    uint64_t remain = 0;          ///< bytes of it still to come
    uint32_t reads = 0;           ///< not yet answered
    uint64_t free_at = 0;         ///< when the bytes of the last of them are through
    std::deque<Reply> waiting{};  ///< by order of request, and of time due

    /// As after its creation, with these numbers.
    void reset(uint32_t new_qpn, uint32_t psn) { *this = QueuePair{.qpn = new_qpn, .peer = peer, .expected_psn = psn}; }

    void expect(uint32_t psn) { expected_psn = psn & PSN_MASK; }
    void complete() { msn = (msn + 1) & PSN_MASK; }

    /// Dynamic (RFC 6335), and another for other queue pairs, so that hashes spread them over paths.
    uint16_t source_port() const { return static_cast<uint16_t>(0xc000 | ((qpn ^ qpn >> 14) & 0x3fff)); }
};

}  // namespace polysome::rdma
