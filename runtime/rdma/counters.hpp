/// What a responder counts. Every frame that it receives is an executed request, a repeated one, refused with a NAK, or
/// dropped for one reason: received == requests + repeated + refused + all drops.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "rdma/roce.hpp"

namespace polysome::rdma {

/// Why a frame was dropped without an answer.
enum class Drop : uint8_t {
    dead,
    truncated,  ///< the flaws of roce.hpp, in their order
    not_roce,
    ip_options,
    fragment,
    bad_checksum,
    bad_length,
    bad_version,
    wrong_mac,  ///< to another station
    wrong_ip,   ///< to another address
    bad_icrc,
    unknown_qpn,      ///< never was, or was before a reset
    wrong_source,     ///< not the address that the queue pair is connected to
    bad_pkey,         ///< of another partition
    bad_opcode,       ///< of another transport, or a response
    not_ready,        ///< the queue pair is reset or in error
    out_of_sequence,  ///< beyond a gap that a NAK has told of
    bad_duplicate,    ///< a repeated request that cannot have been one, or one READ too many
};
inline constexpr size_t DROPS = static_cast<size_t>(Drop::bad_duplicate) + 1;

inline constexpr std::array<const char*, DROPS> DROP_NAMES = {
    "dead",         "truncated",   "not RoCE",   "IP options", "fragment",        "bad checksum",
    "bad length",   "bad version", "wrong MAC",  "wrong IP",   "bad ICRC",        "unknown QPN",
    "wrong source", "bad P_Key",   "bad opcode", "not ready",  "out of sequence", "bad duplicate"};

constexpr Drop drop_of(Flaw flaw) { return static_cast<Drop>(flaw); }
static_assert(drop_of(Flaw::truncated) == Drop::truncated && drop_of(Flaw::bad_version) == Drop::bad_version);

struct Counters {
    uint64_t received = 0, received_bytes = 0;  ///< frames
    uint64_t requests = 0;                      ///< frames, each executed for the first time
    uint64_t writes = 0, written_bytes = 0;     ///< whole messages; bytes put into memory
    uint64_t reads = 0, read_bytes = 0;         ///< messages; bytes taken from memory, again for a repeated one
    uint64_t repeated = 0;                      ///< duplicates answered
    uint64_t refused = 0;                       ///< frames that a NAK answers
    uint64_t sent = 0, sent_bytes = 0;          ///< frames
    uint64_t responses = 0, acks = 0;           ///< frames sent: of READs, without NAKs
    std::array<uint64_t, NAK_CODES> naks{};     ///< frames sent, by code
    std::array<uint64_t, DROPS> drops{};        ///< frames received, by reason

    void drop(Drop why) { ++drops[static_cast<size_t>(why)]; }
    uint64_t dropped(Drop why) const { return drops[static_cast<size_t>(why)]; }
    uint64_t nak(Nak code) const { return naks[static_cast<size_t>(code)]; }
    uint64_t dropped() const { return std::accumulate(drops.begin(), drops.end(), uint64_t{0}); }
};

}  // namespace polysome::rdma
