/// The values of the language (LANGUAGE.md, section 3) as generated code and the runtime hold them.
///
/// bit<N>, addresses, quantities and enums are the least unsigned integer that holds their width; times are nanoseconds
/// since 1970, rates per second. Structs and tuples of the language compare member by member.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

namespace polysome {

using u128 = unsigned __int128;

/// A time that never comes.
inline constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

/// Nothing: the value of a set's entry, the partition of a pool without `per`.
struct None {
    auto operator<=>(const None&) const = default;
};

/// A row of a config table, by identity: a number that no other row of the table ever had.
struct Row {
    uint32_t id = std::numeric_limits<uint32_t>::max();
    auto operator<=>(const Row&) const = default;
};

/// An IP prefix: `value` has `bits` (32 or 128) bits, those beyond `length` are zero.
struct Prefix {
    u128 value = 0;
    uint8_t bits = 0;
    uint8_t length = 0;

    /// Is the `width`-bit address inside? One of the other family never is.
    bool contains(u128 address, unsigned width) const {
        if (width != bits) return false;
        return length == 0 || ((address ^ value) >> (bits - length)) == 0;
    }
    auto operator<=>(const Prefix&) const = default;
};

/// A value taken from a pool, with the partition (`per`) that it goes back to.
template <class Item, class Partition = None>
struct Taken {
    Item value{};
    Partition partition{};
    auto operator<=>(const Taken&) const = default;
};

/// A token bucket: tokens of 10^-9 bit or packet right after the last take, at `last` (STATE.md, S4.1). At first full.
struct Bucket {
    u128 tokens = ~u128{0};
    uint64_t last = 0;
    auto operator<=>(const Bucket&) const = default;
};

/// The NF's time in ns; never runs back.
struct Clock {
    uint64_t now = 0;
};

/// Why an entry ended; the numbers are those of the language's `End`.
enum class End : uint8_t { idle, age, evicted, removed };

/// What a write of a new key does to a full map.
enum class WhenFull : uint8_t { drop, evict, pass };

/// What becomes of a packet: it is sent to one port if `reason` is 0, else it is dropped.
struct PortVerdict {
    uint64_t port = 0;  // a register of its own, so that the compiler sees that the reason is known
    uint16_t reason = 0;

    static constexpr uint32_t count() { return 1; }
    template <class Use>
    void each(Use use) const {
        use(static_cast<uint16_t>(port));
    }
};

/// The same with a set of ports, `ports` (bit i: port i), which may be empty.
struct PortsVerdict {
    uint64_t ports = 0;
    uint16_t reason = 0;

    PortsVerdict() = default;
    PortsVerdict(uint64_t set) : ports(set) {}
    PortsVerdict(PortVerdict one) : ports(uint64_t{1} << one.port), reason(one.reason) {}
    uint32_t count() const { return static_cast<uint32_t>(std::popcount(ports)); }
    /// In the order of their numbers.
    template <class Use>
    void each(Use use) const {
        for (uint64_t left = ports; left != 0; left &= left - 1) use(static_cast<uint16_t>(std::countr_zero(left)));
    }
};

inline PortVerdict send(uint16_t port) { return {.port = port}; }
inline PortsVerdict send_to(uint64_t ports) { return ports; }
inline PortVerdict drop(uint16_t reason) { return {.reason = reason}; }

/// Folds a 64 x 64 bit product: the mixing step of all table hashes here. Not a hash by itself.
inline uint64_t fold(uint64_t a, uint64_t b) {
    const u128 product = static_cast<u128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// A seeded hash of words for hash tables inside one process; nothing outside sees it, so it may change. O(W).
template <size_t W>
uint64_t hash_words(const std::array<uint64_t, W>& words, uint64_t seed) {
    uint64_t h = seed ^ 0x9e3779b97f4a7c15;
    for (size_t i = 0; i + 1 < W; i += 2) h = fold(words[i] ^ h, words[i + 1] ^ 0xd6e8feb86659fd93);
    if constexpr (W % 2 == 1) h = fold(words[W - 1] ^ h, 0xa0761d6478bd642f ^ seed);
    return fold(h ^ W, 0xe7037ed1a0b428db);
}

/// Where packets that the NF itself makes (`emit`) go; they leave at once.
class Emitter {
  public:
    virtual ~Emitter() = default;
    virtual void emitted(uint16_t port, const uint8_t* data, size_t size) = 0;
};

}  // namespace polysome
