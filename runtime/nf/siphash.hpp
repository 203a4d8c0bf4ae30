/// SipHash-2-4 with a 64-bit result: what `hash` and the sketches compute (STATE.md, section 5).
///
/// Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT'12), section 2.
#pragma once

#include <bit>
#include <cstring>

#include "nf/types.hpp"

namespace polysome {

/// The state while a message is absorbed, 8 bytes at a time. Without loops over bytes, and without calls, so that
/// messages of a constant size become straight code, and several at once overlap.
class SipState {
  public:
    [[gnu::always_inline]] explicit SipState(u128 seed) {
        const auto k0 = static_cast<uint64_t>(seed), k1 = static_cast<uint64_t>(seed >> 64);
        v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d;
        v2 = k0 ^ 0x6c7967656e657261, v3 = k1 ^ 0x7465646279746573;
    }

    /// 8 bytes, little-endian.
    [[gnu::always_inline]] void absorb(uint64_t word) {
        v3 ^= word;
        round(), round();
        v0 ^= word;
    }

    /// The hash; `last` are the bytes behind the last whole word, at most 7, little-endian, of a message of `size`.
    [[gnu::always_inline]] uint64_t finish(uint64_t last, size_t size) {
        absorb(last | static_cast<uint64_t>(size) << 56);
        v2 ^= 0xff;
        round(), round(), round(), round();
        return v0 ^ v1 ^ v2 ^ v3;
    }

  private:
    [[gnu::always_inline]] void round() {
        v0 += v1, v2 += v3;
        v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
        v0 = std::rotl(v0, 32);
        v2 += v1, v0 += v3;
        v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
        v2 = std::rotl(v2, 32);
    }

    uint64_t v0, v1, v2, v3;
};

/// At most 8 bytes as a little-endian number.
[[gnu::always_inline]] inline uint64_t load_little(const uint8_t* data, size_t size) {
    static_assert(std::endian::native == std::endian::little, "words are read little-endian");
    uint64_t word = 0;
    if (size != 0) std::memcpy(&word, data, size);  // there may be no data
    return word;
}

/// The hash of `size` bytes under `seed`: k0 is its lower, k1 its upper half. O(size).
[[gnu::always_inline]] inline uint64_t siphash(u128 seed, const uint8_t* data, size_t size) {
    SipState state(seed);
    size_t at = 0;
    const auto step = [&] {
        if (size - at < 8) return;
        state.absorb(load_little(data + at, 8));
        at += 8;
    };
    step(), step(), step(), step(), step(), step();  // compilers do not unroll the loop by themselves
    while (size - at >= 8) step();
    return state.finish(load_little(data + at, size - at), size);
}

/// The place below `size` that a hash means: floor(hash · size / 2^64).
inline uint64_t place(uint64_t hash, uint64_t size) {
    return static_cast<uint64_t>(static_cast<u128>(hash) * size >> 64);
}

/// What is added to a hash from place to place (S5.5): the hash with its halves exchanged and its lowest bit set.
inline uint64_t place_step(uint64_t hash) { return std::rotl(hash, 32) | 1; }

}  // namespace polysome
