/// SipHash-2-4 with a 64-bit result: what `hash` and the sketches compute (STATE.md, section 5).
///
/// Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT'12), section 2.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "nf/types.hpp"

namespace polysome {

/// A vector, each lane of which has a message of its own.
inline constexpr size_t sip_lanes = 8;
using SipLanes = uint64_t __attribute__((vector_size(8 * sip_lanes)));

/// The state while a message is absorbed, 8 bytes at a time; of one message, or of one in each lane. Without loops over
/// bytes, and without calls, so that messages of a constant size become straight code, and several at once overlap.
template <class Word>
class SipState {
  public:
    [[gnu::always_inline]] explicit SipState(u128 seed) {
        const auto k0 = static_cast<uint64_t>(seed), k1 = static_cast<uint64_t>(seed >> 64);
        v0 = Word{} + (k0 ^ 0x736f6d6570736575), v1 = Word{} + (k1 ^ 0x646f72616e646f6d);
        v2 = Word{} + (k0 ^ 0x6c7967656e657261), v3 = Word{} + (k1 ^ 0x7465646279746573);
    }

    /// 8 bytes, little-endian.
    [[gnu::always_inline]] void absorb(const Word& word) {  // a vector that is passed would change the ABI
        v3 ^= word;
        round(), round();
        v0 ^= word;
    }

    /// The hash, once all is absorbed: as the last word, sip_end(size) and the bytes behind the last whole word.
    [[gnu::always_inline]] void finish(Word& hash) {
        v2 ^= 0xff;
        round(), round(), round(), round();
        hash = v0 ^ v1 ^ v2 ^ v3;
    }

  private:
    template <int by>
    [[gnu::always_inline]] static void rotate(Word& word) {
        word = word << by | word >> (64 - by);
    }
    [[gnu::always_inline]] void round() {
        v0 += v1, v2 += v3;
        rotate<13>(v1), rotate<16>(v3), v1 ^= v0, v3 ^= v2;
        rotate<32>(v0);
        v2 += v1, v0 += v3;
        rotate<17>(v1), rotate<21>(v3), v1 ^= v2, v3 ^= v0;
        rotate<32>(v2);
    }

    Word v0, v1, v2, v3;
};

/// What ends a message of `size` bytes: this, and the at most 7 bytes behind its last whole word, little-endian.
constexpr uint64_t sip_end(size_t size) { return static_cast<uint64_t>(size) << 56; }

/// At most 8 bytes as a little-endian number.
[[gnu::always_inline]] inline uint64_t load_little(const uint8_t* data, size_t size) {
    static_assert(std::endian::native == std::endian::little, "words are read little-endian");
    uint64_t word = 0;
    if (size != 0) std::memcpy(&word, data, size);  // there may be no data
    return word;
}

/// The hash of `size` bytes under `seed`: k0 is its lower, k1 its upper half. O(size).
[[gnu::always_inline]] inline uint64_t siphash(u128 seed, const uint8_t* data, size_t size) {
    SipState<uint64_t> state(seed);
    size_t at = 0;
    const auto step = [&] {
        if (size - at < 8) return;
        state.absorb(load_little(data + at, 8));
        at += 8;
    };
    step(), step(), step(), step(), step(), step();  // compilers do not unroll the loop by themselves
    while (size - at >= 8) step();
    state.absorb(load_little(data + at, size - at) | sip_end(size));
    uint64_t hash;
    state.finish(hash);
    return hash;
}

/// A message of `size` bytes, and its hash as soon as it was hashed together with others.
template <size_t size>
struct SipMessage {
    static constexpr size_t words = size / 8 + 1;

    uint64_t word[words];
    uint64_t hash;

    /// Where all of its bytes are to be written.
    [[gnu::always_inline]] uint8_t* bytes() {
        word[words - 1] = sip_end(size);
        return reinterpret_cast<uint8_t*>(word);
    }
};

/// Hashes `sip_lanes` messages of one size under `seed`: those that `message(lane)` refers to, of which some may be the
/// same. Where the processor's vectors are that wide, it costs about what one costs.
template <class Message>
[[gnu::always_inline]] inline void siphash_together(u128 seed, Message message) {
    const auto word = [&](size_t i, SipLanes& lanes) __attribute__((always_inline)) {
        lanes = SipLanes{message(0).word[i], message(1).word[i], message(2).word[i], message(3).word[i],
                         message(4).word[i], message(5).word[i], message(6).word[i], message(7).word[i]};
    };
    static_assert(sip_lanes == 8);
    SipState<SipLanes> state(seed);
    SipLanes lanes;
    for (size_t i = 0; i < std::remove_reference_t<decltype(message(0))>::words; ++i) {
        word(i, lanes);
        state.absorb(lanes);
    }
    state.finish(lanes);
    for (size_t lane = 0; lane < sip_lanes; ++lane) message(lane).hash = lanes[lane];
}

/// The place below `size` that a hash means: floor(hash · size / 2^64).
inline uint64_t place(uint64_t hash, uint64_t size) {
    return static_cast<uint64_t>(static_cast<u128>(hash) * size >> 64);
}

/// What is added to a hash from place to place (S5.5): the hash with its halves exchanged and its lowest bit set.
inline uint64_t place_step(uint64_t hash) { return std::rotl(hash, 32) | 1; }

/// Calls use(i, place) for the first `count` places below `size` that a hash means. Its arguments are no members, which
/// what `use` writes might be, as far as a compiler can know: then all would be read again in each turn.
template <class Use>
[[gnu::always_inline]] inline void each_place(uint64_t hash, uint64_t count, uint64_t size, Use use) {
    const uint64_t step = place_step(hash);
    for (uint64_t i = 0; i < count; ++i, hash += step) use(i, place(hash, size));
}

}  // namespace polysome
