/// Field writes at known places, and the checksums over what they changed: what generated code does for packets of a
/// common shape. The same results as apply.hpp (LANGUAGE.md L10.1, L10.2).
#pragma once

#include "nf/bits.hpp"
#include "nf/checksum.hpp"
#include "nf/packet.hpp"
#include "nf/types.hpp"

namespace polysome {

/// `N` bytes at `p` as a big-endian number.
template <class T, size_t N>
T load_bytes(const uint8_t* p) {
    if constexpr (N == sizeof(T)) {
        return load<T>(p);
    } else if constexpr (N > sizeof(T) / 2) {
        constexpr size_t rest = N - sizeof(T) / 2;
        using Half = std::conditional_t<
            sizeof(T) == 16, uint64_t,
            std::conditional_t<sizeof(T) == 8, uint32_t, std::conditional_t<sizeof(T) == 4, uint16_t, uint8_t>>>;
        const T high = load<Half>(p);
        return static_cast<T>(high << (8 * rest) | load_bytes<T, rest>(p + sizeof(T) / 2));
    } else {
        T value = 0;
        for (size_t i = 0; i < N; ++i) value = static_cast<T>(value << 8 | p[i]);
        return value;
    }
}

/// Stores the low `N` bytes of a number at `p`, big-endian.
template <class T, size_t N>
void store_bytes(uint8_t* p, T value) {
    if constexpr (N == sizeof(T)) {
        store<T>(p, value);
    } else if constexpr (N > sizeof(T) / 2) {
        constexpr size_t rest = N - sizeof(T) / 2;
        using Half = std::conditional_t<
            sizeof(T) == 16, uint64_t,
            std::conditional_t<sizeof(T) == 8, uint32_t, std::conditional_t<sizeof(T) == 4, uint16_t, uint8_t>>>;
        store<Half>(p, static_cast<Half>(value >> (8 * rest)));
        store_bytes<T, rest>(p + sizeof(T) / 2, value);
    } else if constexpr (N == 2) {
        store<uint16_t>(p, static_cast<uint16_t>(value));
    } else {
        for (size_t i = 0; i < N; ++i) p[i] = static_cast<uint8_t>(value >> (8 * (N - 1 - i)));
    }
}

/// How the 16-bit words of bytes changed.
struct SumChange {
    int64_t difference = 0;  ///< new minus old, congruent modulo 65535
    bool any = false;

    /// Of bytes at an even distance from the start of a sum.
    void add(SumChange change) {
        difference += change.difference;
        any |= change.any;
    }
    /// At an odd distance: the bytes of each word are exchanged (RFC 1071, section 2 B).
    void add_odd(SumChange change) {
        difference += change.difference * 256;
        any |= change.any;
    }
};

/// Congruent modulo 65535 to the sum of the words of `N` bytes, the last one padded.
template <size_t N>
int64_t word_sum(uint64_t value) {
    if constexpr (N <= 2) return static_cast<int64_t>(N == 1 ? value << 8 : value);
    if constexpr (N % 2 == 1) value <<= 8;
    return static_cast<int64_t>((value >> 32) + (value & 0xffffffff));
}
template <size_t N>
int64_t word_sum(u128 value) {
    if constexpr (N % 2 == 1) value <<= 8;
    return word_sum<8>(static_cast<uint64_t>(value >> 64)) + word_sum<8>(static_cast<uint64_t>(value));
}

/// Writes a field of `N` whole bytes; T is the least type that holds them.
template <class T, size_t N>
SumChange overwrite(uint8_t* at, T value) {
    using Word = std::conditional_t<sizeof(T) == 16, u128, uint64_t>;
    const T before = load_bytes<T, N>(at);
    store_bytes<T, N>(at, value);
    return {word_sum<N>(Word{value}) - word_sum<N>(Word{before}), value != before};
}

/// Writes the field that is `mask`, `shift` bits from the right, of `N` bytes.
template <class T, size_t N>
SumChange overwrite_bits(uint8_t* at, unsigned shift, T mask, T value) {
    const T before = load_bytes<T, N>(at);
    return overwrite<T, N>(at, static_cast<T>((before & ~mask) | (static_cast<T>(value << shift) & mask)));
}

/// Brings the checksum at `at` up to date (RFC 1624, equation 3). The kinds: ChecksumShape.
template <bool zero_is_none, bool never_zero>
SumChange update_checksum(uint8_t* at, SumChange change) {
    if (!change.any) return {};
    const auto old = load<uint16_t>(at);
    if (zero_is_none && old == 0) return {};
    uint16_t value = updated(old, change.difference);
    if (never_zero && value == 0) value = 0xffff;
    store(at, value);
    return {int64_t{value} - old, value != old};
}

/// One of two changes, without a branch.
inline SumChange either(bool first, SumChange a, SumChange b) {
    return {first ? a.difference : b.difference, first ? a.any : b.any};
}

/// As update_checksum, without a branch: bytes that stay are written too.
inline void update_either(uint8_t* at, SumChange change, bool zero_is_none, bool never_zero) {
    const uint16_t zero = never_zero ? 0xffff : 0, none = zero_is_none ? 0 : 0xffff;
    const auto old = load<uint16_t>(at);
    uint16_t value = updated(old, change.difference);
    value = value == 0 ? zero : value;
    value = (old | none) == 0 ? old : value;
    store(at, change.any ? value : old);
}

}  // namespace polysome
