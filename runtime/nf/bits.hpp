/// Writing of bit fields; reading is in packet.hpp.
#pragma once

#include "nf/packet.hpp"
#include "nf/types.hpp"

namespace polysome {

/// The lowest `width` (0 to 128) bits set.
constexpr u128 low_bits(uint32_t width) { return width >= 128 ? ~u128{0} : (u128{1} << width) - 1; }

/// Byte `i` (0: the first on the wire) of those that `width` bits from bit position `bit` touch, with the field's
/// value. `old` is what the byte holds now.
inline uint8_t with_bits(uint8_t old, uint32_t bit, uint32_t width, u128 value, uint32_t i) {
    // How far the field's last bit is to the right of the byte's; negative: that many bits below it are not the
    // field's.
    const int32_t behind = static_cast<int32_t>((bit & 7) + width) - 8 * static_cast<int32_t>(i + 1);
    const uint32_t above = i == 0 ? bit & 7 : 0;
    const uint32_t below = behind < 0 ? static_cast<uint32_t>(-behind) : 0;
    const auto mask = static_cast<uint8_t>((0xffu >> above) & (0xffu << below));
    const auto part = static_cast<uint8_t>(behind < 0 ? value << below : value >> behind);
    return static_cast<uint8_t>((old & ~mask) | (part & mask));
}

/// Sets `width` bits (1 to 128) from bit position `bit`, big-endian; bytes at or beyond `end` stay as they are.
inline void write_bits(uint8_t* data, uint32_t bit, uint32_t width, u128 value, uint32_t end) {
    const uint32_t first = bit >> 3, last = (bit + width + 7) >> 3, stop = last < end ? last : end;
    for (uint32_t i = first; i < stop; ++i) data[i] = with_bits(data[i], bit, width, value, i - first);
}

/// Stores an unsigned integer of sizeof(T) bytes at `p`, big-endian.
template <class T>
void store(uint8_t* p, T value) {
    if constexpr (sizeof(T) == 16) {
        store(p, static_cast<uint64_t>(value >> 64));
        store(p + 8, static_cast<uint64_t>(value));
    } else {
        if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
        if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
        if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
        std::memcpy(p, &value, sizeof value);
    }
}

}  // namespace polysome
