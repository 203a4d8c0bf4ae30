/// An entry of half a cache line for a flow whose state is one byte, and TCP's flags.
#pragma once

#include "endings.hpp"
#include "parse.hpp"

namespace polysome::bench {

/// The flags that connections are followed by.
enum Flag : uint32_t { fin = 1, syn = 2, rst = 4, ack = 8 };

/// None for UDP.
inline uint32_t tcp_flags(const Packet& packet, const View& view) {
    return _pext_u32(packet.data[view.l4 + 13], view.protocol == TCP ? 0x17 : 0);
}

struct alignas(32) FlowEntry {
    FlowKey key;  ///< byte 13, 0 in all keys, has the state
    Life life;

    bool is(FlowKey other) const { return (_mm_movemask_epi8(_mm_cmpeq_epi8(key, other)) & 0x1fff) == 0x1fff; }
    uint32_t hash() const { return hash_of(_mm_insert_epi8(key, 0, 13)); }
    bool free() const { return _mm_extract_epi8(key, 12) == 0; }

    uint8_t state() const { return reinterpret_cast<const uint8_t*>(&key)[13]; }
    void state(uint8_t next) { reinterpret_cast<uint8_t*>(&key)[13] = next; }
    void set(FlowKey flow, uint8_t first) {
        key = flow;
        state(first);
    }
};

}  // namespace polysome::bench
