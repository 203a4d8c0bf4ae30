/// Canonical bytes: what `hash` and the sketches hash (STATE.md, S5.3).
#pragma once

#include <bit>
#include <cstring>

#include "nf/types.hpp"

namespace polysome {

/// Writes values one after the other into a buffer of the caller's, which must be large enough.
class Writer {
  public:
    explicit Writer(uint8_t* buffer) : begin_(buffer), at_(buffer) {}

    /// The lowest `bytes` bytes (at most 16) of `value`, big-endian. A few instructions if `bytes` is a constant.
    [[gnu::always_inline]] void put(u128 value, size_t bytes) {
        if (bytes > 8) {
            // bytes - 8, in a way that g++ does not warn of where it is never called
            put_word(static_cast<uint64_t>(value >> 64), (bytes - 1) % 8 + 1);
            bytes = 8;
        }
        if (bytes > 0) put_word(static_cast<uint64_t>(value), bytes);
    }

    const uint8_t* data() const { return begin_; }
    size_t size() const { return static_cast<size_t>(at_ - begin_); }

  private:
    /// The lowest `bytes` bytes, 1 to 8.
    [[gnu::always_inline]] void put_word(uint64_t value, size_t bytes) {
        static_assert(std::endian::native == std::endian::little, "words are stored little-endian");
        value = __builtin_bswap64(value << (64 - 8 * bytes));
        std::memcpy(at_, &value, bytes);
        at_ += bytes;
    }

    uint8_t* begin_;
    uint8_t* at_;
};

/// A prefix is its address and one byte of length.
inline void canonical(Writer& writer, const Prefix& prefix) {
    writer.put(prefix.value, prefix.bits / 8);
    writer.put(prefix.length, 1);
}

}  // namespace polysome
