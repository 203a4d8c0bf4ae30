/// Keys of flow maps: words as they are, or, of keys with IPv6 addresses that nearly always hold IPv4 ones, two words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "nf/types.hpp"

namespace polysome {

/// Are the keys equal? Without a branch per word.
template <size_t W>
bool same_words(const std::array<uint64_t, W>& a, const std::array<uint64_t, W>& b) {
    return __builtin_memcmp(a.data(), b.data(), sizeof a) == 0;
}

/// A key as it is, whose last word is less than 2^63.
template <size_t W>
struct NarrowKey : std::array<uint64_t, W> {
    NarrowKey() = default;
    NarrowKey(const std::array<uint64_t, W>& words) : std::array<uint64_t, W>(words) {}
};

/// Where a part of a key's words is in its two near words: from bit `bit` of word `word` on.
///
/// The part is the word `from`, which is less than 2^`bits`; or, if `zero` is not 0, the words `from` and `from` + 1,
/// an IPv6 address, of which its lower 32 bits are there, and bit `zero` of the second word says that all of it is 0.
struct KeyPart {
    uint8_t from, word, bit, bits, zero = 0;
};

/// A key of W words: two near words, which are all of it if each of its addresses is IPv4-mapped (RFC 4291, section
/// 2.5.5.2) or `::`; else bit 63 of the second is set, and `far` are the words, which have no meaning otherwise. Bit 62
/// is always set, so that zeros are no key.
template <size_t W, KeyPart... parts>
class CompactKey {
    static constexpr uint64_t key_bit = uint64_t{1} << 62, long_bit = uint64_t{1} << 63;

    /// Does no part lie in another, or in the bits that all keys have?
    static constexpr bool apart() {
        std::array<uint64_t, 2> taken{0, key_bit | long_bit};
        bool right = true;
        const auto take = [&](size_t word, uint64_t bits) {
            right = right && (taken[word] & bits) == 0;
            taken[word] |= bits;
        };
        (take(parts.word, low_bits(parts.bits) << parts.bit), ...);
        ((parts.zero != 0 ? take(1, uint64_t{1} << parts.zero) : void()), ...);
        return right;
    }
    static constexpr uint64_t low_bits(unsigned n) { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }
    static_assert(apart());

  public:
    using Words = std::array<uint64_t, W>;
    using Near = std::array<uint64_t, 2>;

    CompactKey() = default;
    CompactKey(const CompactKey& other) { *this = other; }
    CompactKey& operator=(const CompactKey& other) {
        near = other.near;
        if (is_long()) [[unlikely]]
            far = other.far;
        return *this;
    }
    CompactKey(const Words& words) {
        Near in{0, key_bit};
        bool fits = true;
        (put<parts>(words, in, fits), ...);
        if (!fits) [[unlikely]] {
            in[1] |= long_bit;
            far = words;
        }
        near = in;
    }
    CompactKey(const Near& stored, const Words& words) : near(stored) {
        if (is_long(stored)) [[unlikely]]
            far = words;
    }

    static bool is_key(const Near& near) { return (near[1] & key_bit) != 0; }
    static bool is_long(const Near& near) { return (near[1] & long_bit) != 0; }
    bool is_long() const { return is_long(near); }

    Words words() const {
        Words all{};
        (get<parts>(all), ...);
        return all;
    }
    /// As its words.
    template <class Archive>
    void carry(Archive& archive) {
        Words all{};
        if constexpr (!Archive::loading) all = words();
        archive(all);
        if constexpr (Archive::loading) *this = CompactKey(all);
    }
    bool operator==(const CompactKey& other) const {
        return same_words(near, other.near) && (!is_long() || same_words(far, other.far));
    }

    Near near;
    Words far;

  private:
    static constexpr uint64_t mapped = uint64_t{0xffff} << 32;  ///< above the IPv4 address

    template <KeyPart part>
    static void put(const Words& words, Near& in, bool& fits) {
        if constexpr (part.zero == 0) {
            in[part.word] |= words[part.from] << part.bit;
        } else {
            const uint64_t high = words[part.from], low = words[part.from + 1];
            const bool zero = (high | low) == 0;
            fits = fits & (zero | ((high | ((low & ~uint64_t{0xffffffff}) ^ mapped)) == 0));
            in[part.word] |= (low & 0xffffffff) << part.bit;
            in[1] |= uint64_t{zero} << part.zero;
        }
    }
    template <KeyPart part>
    void get(Words& all) const {
        const uint64_t held = near[part.word] >> part.bit & low_bits(part.bits);
        if constexpr (part.zero == 0) {
            all[part.from] = held;
        } else if (is_long()) {
            all[part.from] = far[part.from];
            all[part.from + 1] = far[part.from + 1];
        } else {
            all[part.from + 1] = (near[1] >> part.zero & 1) != 0 ? 0 : mapped | held;
        }
    }
};

/// How an entry holds a key: all of it, or its near words beside the rest. If it `tells`, zeros are no key, so that an
/// entry without one can be told from others.
template <class Key>
struct KeyForm {
    using Near = Key;
    static constexpr bool has_far = false, tells = false;
    static Near near(const Key& key) { return key; }
    static Key key(const Near& near) { return near; }
};
/// The top bit of the last word, which no key has.
template <size_t W>
struct KeyForm<NarrowKey<W>> {
    using Near = std::array<uint64_t, W>;
    static constexpr bool has_far = false, tells = true;
    static constexpr uint64_t key_bit = uint64_t{1} << 63;
    static bool is_key(const Near& near) { return (near[W - 1] & key_bit) != 0; }
    static Near near(const NarrowKey<W>& key) {
        Near near = key;
        near[W - 1] |= key_bit;
        return near;
    }
    static NarrowKey<W> key(Near near) {
        near[W - 1] &= ~key_bit;
        return {near};
    }
};
template <size_t W, KeyPart... parts>
struct KeyForm<CompactKey<W, parts...>> {
    using Near = typename CompactKey<W, parts...>::Near;
    static constexpr bool has_far = true, tells = true;
    static bool is_key(const Near& near) { return CompactKey<W, parts...>::is_key(near); }
    static const Near& near(const CompactKey<W, parts...>& key) { return key.near; }
};

/// What an entry holds of a key apart from the rest.
template <class Key>
struct FarWords {
    using Type = std::array<uint64_t, 1>;
};
template <size_t W, KeyPart... parts>
struct FarWords<CompactKey<W, parts...>> {
    using Type = std::array<uint64_t, W>;
};

/// A seeded hash of a key: see hash_words.
template <size_t W>
uint64_t hash_key(const std::array<uint64_t, W>& key, uint64_t seed) {
    return hash_words(key, seed);
}
template <size_t W, KeyPart... parts>
uint64_t hash_key(const CompactKey<W, parts...>& key, uint64_t seed) {
    if (key.is_long()) [[unlikely]]
        return hash_words(key.far, seed);
    return hash_words(key.near, seed);
}

/// A key that a map is asked for: its hash, and the number of the entry that most likely has it, any if none is known.
template <class Key>
struct Sought {
    Key words;
    uint64_t hash;
    uint32_t at;

    /// No key: nothing but expect may be asked about it.
    void clear() {
        hash = 0;
        if constexpr (KeyForm<Key>::has_far) words.near = {};
    }
};

}  // namespace polysome
