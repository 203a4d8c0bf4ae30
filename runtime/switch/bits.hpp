// Bits of headers and metadata: values in the smallest unsigned type that holds them, big-endian in packets.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace polysome::p4 {

using Time = std::uint64_t;  // nanoseconds of simulated time
using u128 = unsigned __int128;
constexpr Time never = ~Time{0};

namespace detail {
template <unsigned W>
struct Storage {
    static_assert(W >= 1 && W <= 128);
    using type =
        std::conditional_t<(W <= 8), std::uint8_t,
                           std::conditional_t<(W <= 16), std::uint16_t,
                                              std::conditional_t<(W <= 32), std::uint32_t,
                                                                 std::conditional_t<(W <= 64), std::uint64_t, u128>>>>;
};
}  // namespace detail

/// What stores bit<W>: its upper bits are always 0.
template <unsigned W>
using Bits = typename detail::Storage<W>::type;

template <unsigned W>
constexpr Bits<W> mask = static_cast<Bits<W>>(static_cast<Bits<W>>(~Bits<W>{0}) >> (sizeof(Bits<W>) * 8 - W));

/// The lowest W bits of a value.
template <unsigned W, class T>
[[gnu::always_inline]] constexpr Bits<W> cut(T value) {
    return static_cast<Bits<W>>(static_cast<Bits<W>>(value) & mask<W>);
}

/// Fields of more than 128 bits are only carried along.
template <unsigned N>
struct Bytes {
    std::uint8_t at[N];
    bool operator==(const Bytes&) const = default;
};

/// K bytes, big-endian.
template <unsigned K>
[[gnu::always_inline]] inline Bits<K * 8> load(const std::uint8_t* p) {
    if constexpr (K == 1) {
        return *p;
    } else if constexpr (K == 2 || K == 4 || K == 8) {
        Bits<K * 8> value;
        std::memcpy(&value, p, K);
        if constexpr (std::endian::native == std::endian::big) return value;
        if constexpr (K == 2) return static_cast<Bits<K * 8>>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
        if constexpr (K == 4) return static_cast<Bits<K * 8>>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
        if constexpr (K == 8) return static_cast<Bits<K * 8>>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
    } else {
        constexpr unsigned first = std::bit_floor(K - 1);
        return static_cast<Bits<K * 8>>(static_cast<Bits<K * 8>>(load<first>(p)) << (K - first) * 8 |
                                        load<K - first>(p + first));
    }
}

template <unsigned K>
[[gnu::always_inline]] inline void store(std::uint8_t* p, Bits<K * 8> value) {
    if constexpr (K == 1) {
        *p = value;
    } else if constexpr (K == 2 || K == 4 || K == 8) {
        if constexpr (std::endian::native == std::endian::little) {
            if constexpr (K == 2)
                value = static_cast<Bits<K * 8>>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
            if constexpr (K == 4)
                value = static_cast<Bits<K * 8>>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
            if constexpr (K == 8)
                value = static_cast<Bits<K * 8>>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
        }
        std::memcpy(p, &value, K);
    } else {
        constexpr unsigned first = std::bit_floor(K - 1);
        store<first>(p, static_cast<Bits<first * 8>>(value >> (K - first) * 8));
        store<K - first>(p + first, static_cast<Bits<(K - first) * 8>>(value));
    }
}

/// |+| of P4: stops at all ones.
template <unsigned W>
constexpr Bits<W> add_saturating(Bits<W> a, Bits<W> b) {
    return b > static_cast<Bits<W>>(mask<W> - a) ? mask<W> : static_cast<Bits<W>>(a + b);
}

/// |-| of P4: stops at 0.
template <unsigned W>
constexpr Bits<W> subtract_saturating(Bits<W> a, Bits<W> b) {
    return a > b ? static_cast<Bits<W>>(a - b) : Bits<W>{0};
}

/// The value of an int<W>, W at most 64, whose bits are given.
template <unsigned W>
constexpr std::int64_t to_signed(Bits<W> value) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << (64 - W)) >> (64 - W);
}

/// |+| and |-| of int<W>: stop at the least and the greatest.
template <unsigned W>
constexpr Bits<W> saturate_signed(std::int64_t value) {
    constexpr std::int64_t most = (std::int64_t{1} << (W - 1)) - 1;
    return cut<W>(value > most ? most : value < -most - 1 ? -most - 1 : value);
}

// ---------------------------------------------------------------- ones' complement sums (RFC 1071)

/// The 16-bit words of `value << shift`, added up.
template <class T>
[[gnu::always_inline]] constexpr std::uint64_t words(T value, unsigned shift) {
    std::uint64_t sum = 0;
    if constexpr (sizeof(T) <= 4) {
        const std::uint64_t v = std::uint64_t{value} << shift;
        sum = (v & 0xffff) + (v >> 16 & 0xffff) + (v >> 32);
    } else {
        for (u128 v = value; v != 0; v >>= 32) sum += words(static_cast<std::uint32_t>(v), shift);
    }
    return sum;
}

/// The 16-bit words of bytes in a packet; an odd last byte is followed by a zero.
inline std::uint64_t packet_words(const std::uint8_t* p, unsigned size) {
    std::uint64_t sum = 0;
    for (; size > 1; size -= 2, p += 2) sum += load<2>(p);
    return size == 1 ? sum + (std::uint64_t{*p} << 8) : sum;
}

/// The sum folded to 16 bits: 0 only if nothing but zeros was added.
constexpr std::uint16_t fold(std::uint64_t sum) {
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16));
}

/// What a deparser's Checksum.update yields for the sum of its list.
constexpr std::uint16_t checksum(std::uint64_t sum, bool zeros_as_ones) {
    const auto found = static_cast<std::uint16_t>(~fold(sum));
    return zeros_as_ones && found == 0 ? std::uint16_t{0xffff} : found;
}

/// A parser's Checksum: 0 minus what is subtracted, word by word (a word is subtracted by adding its complement).
struct Residual {
    std::uint64_t sum = 0;
    bool subtract_all = false;  // subtract_all_and_deposit was called: headers extracted from now on are subtracted too
    constexpr void subtract(std::uint64_t of, unsigned count) { sum += std::uint64_t{count} * 0xffff - of; }
    constexpr std::uint16_t get() const { return fold(sum); }
};

}  // namespace polysome::p4
