/// A packet as `parse` finds it: where its headers are in the frame.
#pragma once

#include <cstring>

#include "nf/types.hpp"

namespace polysome {

/// Reads `width` bits (1 to 128) from bit position `bit` of a frame, big-endian; bytes at or beyond `end` read 0.
inline u128 read_bits(const uint8_t* data, uint32_t bit, uint32_t width, uint32_t end) {
    const uint32_t first = bit >> 3, last = (bit + width + 7) >> 3;
    u128 value = 0;
    uint32_t i = first;
    // At most 17 bytes: what the first one has above the field falls out at the top.
    for (; i + 1 < last; ++i) value = value << 8 | (i < end ? data[i] : 0);
    const uint32_t shift = last * 8 - bit - width;
    const uint8_t tail = i < end ? data[i] : 0;
    value = value << (8 - shift) | tail >> shift;
    return width == 128 ? value : value & ((u128{1} << width) - 1);
}

/// Bytes `low` to `high` (at most 16) counted from `start`, big-endian; bytes at or beyond `end` read 0.
inline u128 slice_bytes(const uint8_t* data, uint32_t low, uint32_t high, uint32_t start, uint32_t end) {
    u128 value = 0;
    for (uint32_t i = start + low; i < start + high; ++i) value = value << 8 | (i < end ? data[i] : 0);
    return value;
}

/// An unsigned integer of sizeof(T) bytes at `p`, big-endian.
template <class T>
T load(const uint8_t* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    if constexpr (sizeof(T) == 1) return value;
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
    if constexpr (sizeof(T) == 16) {
        const auto high = load<uint64_t>(p), low = load<uint64_t>(p + 8);
        return static_cast<u128>(high) << 64 | low;
    }
}

/// A packet and which headers it has. `N` instances, at most 128; positions are bytes from the frame's first.
///
/// `end`: where the network packet ends in the frame; `claimed`: what its header says, `unclaimed` if none does;
/// `payload`: behind the last valid header.
template <size_t N>
struct Bounds {
    static_assert(N <= 128, "a parser has at most 128 header instances");
    using Mask = std::conditional_t<(N <= 64), uint64_t, u128>;
    static constexpr uint32_t unclaimed = UINT32_MAX;

    const uint8_t* data;
    uint32_t size;
    uint32_t end;
    uint32_t claimed;
    uint32_t payload;
    uint16_t in_port;
    uint8_t depth;
    Mask valid;
    uint32_t pos;
    uint32_t room;

    void begin(const uint8_t* frame, uint32_t bytes, uint16_t port) {
        data = frame;
        size = end = room = bytes;
        claimed = unclaimed;
        pos = payload = 0;
        in_port = port;
        depth = 0;
        valid = 0;
    }

    /// Becomes `front`, but for where parsing is, which nobody asks when the whole packet was found.
    void found(const Bounds& front) {
        data = front.data;
        size = front.size;
        end = front.end;
        claimed = front.claimed;
        payload = front.payload;
        in_port = front.in_port;
        valid = front.valid;
    }
    /// A packet of `bytes` bytes of which only the fields at `fields` are here: nobody asks where they were.
    void of_fields(const uint8_t* fields, uint32_t bytes, uint16_t port, Mask headers) {
        data = fields;
        size = bytes;
        claimed = unclaimed;
        in_port = port;
        valid = headers;
    }

    bool has(size_t instance) const { return valid >> instance & 1; }
    /// `len` (L5.1).
    uint32_t length() const { return claimed == unclaimed ? size : claimed; }
    /// Is the frame shorter than its network header claims (L4.4)?
    bool is_short() const { return claimed + 1 > size + 1; }  // unclaimed + 1 is 0; no frame has 2^32 - 1 bytes

    /// A header says that its packet ends at `where`: the first one ends the packet, later ones what may be parsed.
    void narrow(uint32_t where) {
        if (claimed == unclaimed) {
            claimed = where;
            end = where < size ? where : size;
        }
        if (where < room) room = where;
    }
};

/// The same, and where the headers are.
///
/// `offset`, `header_end` and `limit` (where what follows the header must end) of an instance that is not `valid` have
/// no meaning. `path` lists the valid ones in order.
template <size_t N>
struct Parsed : Bounds<N> {
    using Front = Bounds<N>;
    using Front::depth;
    using Front::pos;
    using Front::room;
    using Front::valid;
    using typename Front::Mask;

    std::array<uint32_t, N> offset;
    std::array<uint32_t, N> header_end;
    std::array<uint32_t, N> limit;
    std::array<uint8_t, N> path;

    /// Instance `i` is valid, from `pos` on, `bytes` long.
    void take(size_t i, uint32_t bytes) {
        offset[i] = pos;
        pos += bytes;
        header_end[i] = pos;
        path[depth++] = static_cast<uint8_t>(i);
        valid |= Mask{1} << i;
    }
    /// Instance `i` is valid although only its beginning is there (L4.9).
    void take_cut(size_t i) {
        take(i, room - pos);
        limit[i] = room;
    }
};

}  // namespace polysome
