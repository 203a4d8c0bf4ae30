/// Canonical bytes: what `hash` and the sketches hash (STATE.md, S5.3).
#pragma once

#include "nf/types.hpp"

namespace polysome {

/// Writes values one after the other into a buffer of the caller's, which must be large enough.
class Writer {
  public:
    explicit Writer(uint8_t* buffer) : begin_(buffer), at_(buffer) {}

    /// The lowest `bytes` bytes (at most 16) of `value`, big-endian.
    void put(u128 value, size_t bytes) {
        for (size_t i = bytes; i-- > 0; value >>= 8) at_[i] = static_cast<uint8_t>(value);
        at_ += bytes;
    }

    const uint8_t* data() const { return begin_; }
    size_t size() const { return static_cast<size_t>(at_ - begin_); }

  private:
    uint8_t* begin_;
    uint8_t* at_;
};

/// A prefix is its address and one byte of length.
inline void canonical(Writer& writer, const Prefix& prefix) {
    writer.put(prefix.value, prefix.bits / 8);
    writer.put(prefix.length, 1);
}

}  // namespace polysome
