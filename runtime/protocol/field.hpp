/// A field of a header on the wire, big-endian: `Bits` bits behind the header's first `First` ones. It fills whole
/// bytes, or is part of one; which fields there are says protocol.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace polysome::protocol {

template <size_t First, size_t Bits, size_t Spare = 0>
struct Field {
    static_assert(Bits >= 1 && Bits <= 64 && Spare < Bits);
    static_assert((First % 8 == 0 && Bits % 8 == 0) || First % 8 + Bits <= 8, "whole bytes, or part of one");

    /// The smallest unsigned integer that holds its values.
    using Value = std::conditional_t<
        Bits <= 8, uint8_t,
        std::conditional_t<Bits <= 16, uint16_t, std::conditional_t<Bits <= 32, uint32_t, uint64_t>>>;

    static constexpr size_t at = First / 8;         ///< the byte of the header where it begins
    static constexpr size_t size = (Bits + 7) / 8;  ///< bytes that it fills, or of which it is a part
    static constexpr size_t end = at + size;        ///< the byte behind it
    static constexpr Value mask = static_cast<Value>(~uint64_t{0} >> (64 - Bits));  ///< of all its bits
    static constexpr Value most = static_cast<Value>(mask >> Spare);                ///< the first `Spare` bits are 0

    /// Its value, of `Bits` bits, in the header at `header`, which has `end` bytes or more.
    static Value read(const uint8_t* header) {
        if constexpr (Bits % 8 != 0) {
            return header[at] >> shift & mask;
        } else if constexpr (size == sizeof(Value)) {
            Value value;
            std::memcpy(&value, header + at, size);
            return swapped(value);
        } else if constexpr (size == 3 && at > 0) {  // one load, with the byte before it
            uint32_t value;
            std::memcpy(&value, header + at - 1, sizeof value);
            return swapped(value) & mask;
        } else {
            Value value = 0;
            for (size_t i = 0; i < size; ++i) value = static_cast<Value>(value << 8 | header[at + i]);
            return value;
        }
    }
    /// Sets it, and no bit beside it. Bits of `value` beyond the field's are ignored.
    static void write(uint8_t* header, Value value) {
        if constexpr (Bits % 8 != 0) {
            header[at] = static_cast<uint8_t>((header[at] & ~(mask << shift)) | (value & mask) << shift);
        } else if constexpr (size == sizeof(Value)) {
            value = swapped(value);
            std::memcpy(header + at, &value, size);
        } else {
            for (size_t i = size; i-- > 0; value = static_cast<Value>(value >> 8)) {
                header[at + i] = static_cast<uint8_t>(value);
            }
        }
    }

  private:
    static constexpr size_t shift = 8 * end - First - Bits;

    static Value swapped(Value value) {
        if constexpr (std::endian::native == std::endian::big || sizeof value == 1) return value;
        if constexpr (sizeof value == 2) return __builtin_bswap16(value);
        if constexpr (sizeof value == 4) return __builtin_bswap32(value);
        if constexpr (sizeof value == 8) return __builtin_bswap64(value);
    }
};

}  // namespace polysome::protocol
