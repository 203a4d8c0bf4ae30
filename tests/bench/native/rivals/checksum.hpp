/// Checksums that follow a change, RFC 1624, equation 3: HC' = ~(~HC + ~m + m'), in one's complement.
///
/// All works on 16-bit words as they lie in memory: one's complement sums do not mind the byte order (RFC 1071).
#pragma once

#include "parse.hpp"

namespace polysome::bench {

/// What a change adds to the sum: ~m + m' of every word of an address, not folded. Never 0, unless an address of all
/// ones became one of zeros.
[[gnu::always_inline]] inline uint32_t change32(uint32_t from, uint32_t to) {
    const uint32_t less = ~from;
    return (less & 0xffff) + (less >> 16) + (to & 0xffff) + (to >> 16);
}
/// The same of a port.
[[gnu::always_inline]] inline uint32_t change16(uint16_t from, uint16_t to) {
    return static_cast<uint16_t>(~from) + uint32_t{to};
}

[[gnu::always_inline]] inline uint16_t folded(uint32_t sum) {
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(sum + (sum >> 16));
}

/// The checksum at `p` after what it covers changed.
[[gnu::always_inline]] inline void adjust(uint8_t* p, uint32_t change) {
    uint16_t sum;
    std::memcpy(&sum, p, 2);
    sum = static_cast<uint16_t>(~folded(static_cast<uint16_t>(~sum) + change));
    std::memcpy(p, &sum, 2);
}

/// The same for the checksum of a TCP or UDP header at `l4`. UDP's may be absent, which 0 says; one that comes out as 0
/// is written as its other zero (RFC 768). Without branches, as protocols are mixed.
[[gnu::always_inline]] inline void adjust_l4(uint8_t* l4, uint8_t protocol, uint32_t change) {
    const bool udp = protocol == UDP;
    uint8_t* p = l4 + (udp ? 6 : 16);
    uint16_t old;
    std::memcpy(&old, p, 2);
    uint16_t sum = static_cast<uint16_t>(~folded(static_cast<uint16_t>(~old) + change));
    sum = udp && sum == 0 ? 0xffff : sum;
    sum = udp && old == 0 ? 0 : sum;
    std::memcpy(p, &sum, 2);
}

}  // namespace polysome::bench
