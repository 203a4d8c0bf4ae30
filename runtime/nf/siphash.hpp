/// SipHash-2-4 with a 64-bit result: what `hash` and the sketches compute (STATE.md, section 5).
///
/// Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT'12), section 2.
#pragma once

#include <bit>
#include <cstring>

#include "nf/types.hpp"

namespace polysome {

/// The hash of `size` bytes under `seed`: k0 is its lower, k1 its upper half. O(size).
inline uint64_t siphash(u128 seed, const uint8_t* data, size_t size) {
    const auto k0 = static_cast<uint64_t>(seed), k1 = static_cast<uint64_t>(seed >> 64);
    uint64_t v0 = k0 ^ 0x736f6d6570736575, v1 = k1 ^ 0x646f72616e646f6d;
    uint64_t v2 = k0 ^ 0x6c7967656e657261, v3 = k1 ^ 0x7465646279746573;
    const auto round = [&] {
        v0 += v1, v2 += v3;
        v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
        v0 = std::rotl(v0, 32);
        v2 += v1, v0 += v3;
        v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
        v2 = std::rotl(v2, 32);
    };
    const auto absorb = [&](uint64_t word) {
        v3 ^= word;
        round(), round();
        v0 ^= word;
    };
    static_assert(std::endian::native == std::endian::little, "words are read little-endian");
    const size_t whole = size & ~size_t{7};
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word;
        std::memcpy(&word, data + i, 8);
        absorb(word);
    }
    uint64_t last = static_cast<uint64_t>(size) << 56;
    for (size_t i = whole; i < size; ++i) last |= static_cast<uint64_t>(data[i]) << (8 * (i - whole));
    absorb(last);
    v2 ^= 0xff;
    round(), round(), round(), round();
    return v0 ^ v1 ^ v2 ^ v3;
}

/// The place below `size` that a hash means: floor(hash · size / 2^64).
inline uint64_t place(uint64_t hash, uint64_t size) {
    return static_cast<uint64_t>(static_cast<u128>(hash) * size >> 64);
}

/// What is added to a hash from place to place (S5.5): the hash with its halves exchanged and its lowest bit set.
inline uint64_t place_step(uint64_t hash) { return std::rotl(hash, 32) | 1; }

}  // namespace polysome
