/// The Internet checksum: whole (RFC 1071) and incremental (RFC 1624, equation 3; LANGUAGE.md L10.2).
#pragma once

#include <span>

#include "nf/packet.hpp"
#include "nf/types.hpp"

namespace polysome {

/// The sum of the big-endian 16-bit words of bytes that come piece by piece. O(bytes).
class Sum {
  public:
    /// A piece after an odd number of bytes begins in the middle of a word.
    void add(std::span<const uint8_t> piece) {
        const uint64_t sum = word_sum(piece);
        total_ += odd_ ? rotated(sum) : sum;
        odd_ ^= piece.size() & 1;
    }

    /// Congruent to the sum modulo 65535, 0 to 65535; 0 only if every byte was.
    uint32_t value() const { return folded(total_); }

    /// The checksum (RFC 1071): 0 if the sum is 0 modulo 65535, but ffff if every byte was 0.
    uint16_t checksum() const { return static_cast<uint16_t>(0xffff - value()); }

  private:
    /// Carries added at the other end (RFC 1071, section 2 A): the same modulo 65535, at most 65535, 0 stays the only
    /// 0.
    static uint32_t folded(uint64_t sum) {
        while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
        return static_cast<uint32_t>(sum);
    }
    /// 2^8 times the sum: the same words with their bytes exchanged (RFC 1071, section 2 B).
    static uint64_t rotated(uint64_t sum) { return uint64_t{folded(sum)} << 8; }

    static uint64_t word_sum(std::span<const uint8_t> bytes) {
        const uint8_t* p = bytes.data();
        size_t left = bytes.size();
        uint64_t sum = 0;  // of 32-bit words, which are congruent to the sum of their halves
        for (; left >= 8; p += 8, left -= 8) {
            const auto word = load<uint64_t>(p);
            sum += (word >> 32) + (word & 0xffffffff);
        }
        for (; left >= 2; p += 2, left -= 2) sum += load<uint16_t>(p);
        return left != 0 ? sum + (uint64_t{*p} << 8) : sum;
    }

    uint64_t total_ = 0;
    bool odd_ = false;
};

/// The checksum of `bytes` (RFC 1071). O(bytes).
inline uint16_t checksum(std::span<const uint8_t> bytes) {
    Sum sum;
    sum.add(bytes);
    return sum.checksum();
}

/// The checksum `old` after the words that it covers changed by `difference`, new minus old, |difference| < 2^55.
/// Never ffff: 65535 - acc with acc congruent to (65535 - old) + difference and 1 <= acc <= 65535. What depends on the
/// difference alone is apart, so that the compiler does it once for all sums that it changes.
inline uint16_t updated(uint16_t old, int64_t difference) {
    const auto positive = static_cast<uint64_t>((int64_t{0xffff} << 40) + difference - 1);
    const auto change = static_cast<uint32_t>(positive % 0xffff + 1);  // 1 to 65535
    const uint32_t sum = change + 0xffff - old;
    return static_cast<uint16_t>(0xffff - ((sum & 0xffff) + (sum >> 16)));
}

}  // namespace polysome
