// What a pass through a pipe takes and yields: the contract between a translated program and `Switch`.
#pragma once

#include <cstdint>

#include "switch/bits.hpp"

namespace polysome::p4 {

// Register actions and tables become functions that are called in one place.
#define POLYSOME_INLINE __attribute__((always_inline))

constexpr unsigned most_emitted = 512;  // bytes of headers that a deparser writes: more than any PHV holds
constexpr unsigned most_mirrored = 128;

/// Why a pass lets nothing go on.
enum class Cause : std::uint8_t {
    none,
    parser,   // a parser error that the program does not read
    program,  // drop_ctl
    no_port,  // neither a unicast port nor a multicast group
};

/// What the application of a table yields: did it hit, and which action, by its place in the table, ran?
struct Ran {
    bool hit;
    std::uint8_t action;
};

/// A mirror copy that a deparser asks for.
struct MirrorRequest {
    bool asked = false;
    std::uint16_t session = 0;
    std::uint16_t size = 0;  // bytes of the header
    std::uint8_t header[most_mirrored];
};

/// What a pass makes of the front of a packet: its first `consumed` bytes go, `emitted` bytes of `head` come.
struct Front {
    std::uint32_t consumed = 0;
    std::uint32_t emitted = 0;
    std::uint8_t head[most_emitted];
};

struct IngressInput {
    const std::uint8_t* data;
    std::uint32_t size;
    std::uint16_t port;
    const std::uint8_t* port_metadata;  // what port_metadata_unpack reads
    Time now;
};

constexpr std::uint16_t no_port = 0xffff;

struct IngressOutput {
    Cause cause = Cause::none;  // of nothing going on; a mirror copy may be asked for all the same
    std::uint16_t port = no_port;
    std::uint16_t group_a = 0, group_b = 0;  // 0: none
    std::uint16_t rid = 0, exclusion_1 = 0, exclusion_2 = 0;
    std::uint8_t queue = 0;
    bool bypass = false;
    MirrorRequest mirror;
    Front front;
};

struct EgressInput {
    const std::uint8_t* data;
    std::uint32_t size;
    std::uint16_t port;
    std::uint16_t rid;
    std::uint16_t length;  // pkt_length
    std::uint8_t queue;
    bool first_copy;
    std::uint32_t enqueued_depth, dequeued_depth;  // of the queue, in cells
    Time enqueued;
    Time now;
};

struct EgressOutput {
    Cause cause = Cause::none;
    MirrorRequest mirror;
    Front front;
};

}  // namespace polysome::p4
