/// CRC-32 of IEEE 802.3, section 3.2.9: the sum under the ICRC.
///
/// A state is the register without the final inversion: it starts as all ones, and the CRC is its complement. Two
/// ways to the same state: tables for 16 bytes at once, which run anywhere, and carry-less multiplication, some five
/// times as fast on x86-64 processors that have it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "protocol/protocol.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace polysome::rdma {

/// Reflected: its lowest power is the highest bit.
inline constexpr uint32_t CRC_POLYNOMIAL = [] {
    uint32_t reflected = 0;
    for (uint32_t i = 0; i < 32; ++i) reflected |= (protocol::crc32::polynomial >> i & 1) << (31 - i);
    return reflected;
}();
inline constexpr uint32_t CRC_START = protocol::crc32::start;

/// The state after `bits` more zero bits.
constexpr uint32_t crc_shifted(uint32_t state, uint32_t bits) {
    for (uint32_t i = 0; i < bits; ++i) state = (state >> 1) ^ ((state & 1) != 0 ? CRC_POLYNOMIAL : 0);
    return state;
}

/// Row k, column b: what byte b contributes to the state after it and k zero bytes.
constexpr std::array<std::array<uint32_t, 256>, 16> crc_tables() {
    std::array<std::array<uint32_t, 256>, 16> tables{};
    for (uint32_t k = 0; k < 16; ++k) {
        for (uint32_t b = 0; b < 256; ++b) tables[k][b] = crc_shifted(k == 0 ? b : tables[k - 1][b], 8);
    }
    return tables;
}

inline constexpr std::array<std::array<uint32_t, 256>, 16> CRC_TABLES = crc_tables();

/// The state after `bytes`, by tables. O(bytes).
inline uint32_t crc_by_tables(uint32_t state, std::span<const uint8_t> bytes) {
    const uint8_t* p = bytes.data();
    size_t left = bytes.size();
    for (; left >= 16; p += 16, left -= 16) {
        uint64_t words[2];
        std::memcpy(words, p, sizeof words);
        words[0] ^= state;
        state = 0;
        for (uint32_t i = 0; i < 8; ++i) {
            state ^= CRC_TABLES[15 - i][words[0] >> (8 * i) & 0xff] ^ CRC_TABLES[7 - i][words[1] >> (8 * i) & 0xff];
        }
    }
    for (; left > 0; ++p, --left) state = (state >> 8) ^ CRC_TABLES[0][(state ^ *p) & 0xff];
    return state;
}

#if defined(__x86_64__)

/// The factor that moves 64 bits of a reflected message by `bits`: x^bits modulo the polynomial, one bit up because a
/// carry-less product of reflected numbers comes out one bit low.
constexpr long long crc_factor(uint32_t bits) { return static_cast<long long>(crc_shifted(0x80000000, bits)) << 1; }

/// The 16 bytes `x` moved by the distance that `factors` stand for, added to the 16 bytes there.
[[gnu::target("pclmul")]] inline __m128i crc_folded(__m128i x, __m128i there, __m128i factors) {
    const __m128i low = _mm_clmulepi64_si128(x, factors, 0x00), high = _mm_clmulepi64_si128(x, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/// The state after `bytes`, at least 64, by folding (Gopal et al., "Fast CRC Computation for Generic Polynomials
/// Using PCLMULQDQ Instruction", 2009): four lanes of 16 bytes, then one, whose rest goes through the tables. O(bytes).
[[gnu::target("pclmul")]] inline uint32_t crc_by_folding(uint32_t state, std::span<const uint8_t> bytes) {
    // The lower half of a lane is 64 bits further from the end; 32 bits less because the state is 32 bits wide.
    constexpr long long far_low = crc_factor(512 + 32), far_high = crc_factor(512 - 32);
    constexpr long long near_low = crc_factor(128 + 32), near_high = crc_factor(128 - 32);
    const __m128i far = _mm_set_epi64x(far_high, far_low), near = _mm_set_epi64x(near_high, near_low);
    const auto* p = reinterpret_cast<const __m128i*>(bytes.data());
    size_t left = bytes.size() - 64;
    __m128i lanes[4];
    for (size_t i = 0; i < 4; ++i) lanes[i] = _mm_loadu_si128(p + i);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(state)));
    for (p += 4; left >= 64; p += 4, left -= 64) {
        for (size_t i = 0; i < 4; ++i) lanes[i] = crc_folded(lanes[i], _mm_loadu_si128(p + i), far);
    }
    for (size_t i = 1; i < 4; ++i) lanes[0] = crc_folded(lanes[0], lanes[i], near);
    __m128i x = lanes[0];
    for (; left >= 16; ++p, left -= 16) x = crc_folded(x, _mm_loadu_si128(p), near);
    uint8_t rest[16];
    std::memcpy(rest, &x, sizeof rest);
    return crc_by_tables(crc_by_tables(0, rest), bytes.last(left));
}

#endif

/// The state after `bytes`, by the fastest way that this processor has. O(bytes).
inline uint32_t crc_after(uint32_t state, std::span<const uint8_t> bytes) {
#if defined(__x86_64__)
    if (bytes.size() >= 64 && __builtin_cpu_supports("pclmul")) return crc_by_folding(state, bytes);
#endif
    return crc_by_tables(state, bytes);
}

}  // namespace polysome::rdma
