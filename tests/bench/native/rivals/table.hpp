/// A hash table of entries that stay where they are: groups of 15 one-byte tags, compared at once (as in F14: Bronson
/// and Shi, "Open-sourcing F14", 2019), and one entry per tag. A lookup touches 16 bytes of tags, which stay in the
/// caches, and the entry. A group counts the entries that found it full and went on, so that nothing has to be
/// rebuilt when entries go.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>

#include "../memory.hpp"

namespace polysome::bench {

inline constexpr uint32_t NONE = ~uint32_t{0};

/// CRC-32C of 16 or 8 bytes.
[[gnu::always_inline]] inline uint32_t hash_of(__m128i key) {
    const uint64_t low = _mm_crc32_u64(~uint32_t{0}, static_cast<uint64_t>(_mm_cvtsi128_si64(key)));
    return static_cast<uint32_t>(_mm_crc32_u64(low, static_cast<uint64_t>(_mm_extract_epi64(key, 1))));
}
[[gnu::always_inline]] inline uint32_t hash_of(uint64_t key) {
    return static_cast<uint32_t>(_mm_crc32_u64(~uint32_t{0}, key));
}

/// Entry has `is(key)`, is all zeros at first, and of a size that divides 64 bytes.
template <class Entry>
class Table {
    static_assert(64 % sizeof(Entry) == 0, "no entry lies in two cache lines");

  public:
    explicit Table(uint64_t capacity)
        : groups_(static_cast<uint32_t>(capacity / TAKEN + 1)),
          tags_(large_array<Group>(groups_)),
          entries_(large_array<Entry>(size_t{groups_} * 16)) {}

    Entry& operator[](uint32_t place) { return entries_[place]; }
    uint32_t places() const { return groups_ * 16; }
    void prefetch(uint32_t hash) const { __builtin_prefetch(&tags_[home(hash)]); }

    /// Where an entry of this hash may be, which it prefetches; NONE if the first look finds none: then the place is
    /// prefetched that a new one would get.
    [[gnu::always_inline]] uint32_t candidate(uint32_t hash) const {
        const uint32_t group = home(hash), found = matches(group, tag(hash));
        const uint32_t looked_at = found != 0 ? found : matches(group, 0);
        const uint32_t place = group * 16 + static_cast<uint32_t>(__builtin_ctz(looked_at | 0x8000));
        __builtin_prefetch(&entries_[place], 1);
        return found != 0 ? place : NONE;
    }
    /// Where the key's entry is, `candidate` being what that said, maybe before other entries came and went.
    template <class Key>
    [[gnu::always_inline]] uint32_t find(const Key& key, uint32_t hash, uint32_t candidate) const {
        if (candidate != NONE && entries_[candidate].is(key)) [[likely]]
            return candidate;
        return search(key, hash);
    }
    template <class Key>
    [[gnu::noinline]] uint32_t search(Key key, uint32_t hash) const {
        for (uint32_t group = home(hash);; group = after(group)) {
            for (uint32_t found = matches(group, tag(hash)); found; found &= found - 1) {
                const uint32_t place = group * 16 + static_cast<uint32_t>(__builtin_ctz(found));
                if (entries_[place].is(key)) return place;
            }
            if (tags_[group].passed == 0) return NONE;
        }
    }

    /// A place for an entry that is not there.
    uint32_t insert(uint32_t hash) {
        for (uint32_t group = home(hash);; group = after(group)) {
            if (const uint32_t free = matches(group, 0)) {
                const auto i = static_cast<uint32_t>(__builtin_ctz(free));
                tags_[group].tags[i] = tag(hash);
                return group * 16 + i;
            }
            if (tags_[group].passed != STUCK) ++tags_[group].passed;
        }
    }
    void erase(uint32_t place, uint32_t hash) {
        for (uint32_t group = home(hash); group != place / 16; group = after(group)) {
            if (tags_[group].passed != STUCK) --tags_[group].passed;
        }
        tags_[place / 16].tags[place % 16] = 0;
    }

  private:
    static constexpr uint32_t TAKEN = 9;   ///< of 15, on average, when it is full: few groups overflow
    static constexpr uint8_t STUCK = 255;  ///< it is not known any more how many passed
    struct alignas(16) Group {
        std::array<uint8_t, 15> tags;  // 0: free
        uint8_t passed;                // entries that found it full
    };

    // The group is taken from the hash's upper bits, the tag from the lower ones.
    uint32_t home(uint32_t hash) const { return static_cast<uint32_t>(uint64_t{hash} * groups_ >> 32); }
    uint32_t after(uint32_t group) const { return group + 1 == groups_ ? 0 : group + 1; }
    static uint8_t tag(uint32_t hash) {
        const auto low = static_cast<uint8_t>(hash);
        return low == 0 ? 1 : low;
    }
    uint32_t matches(uint32_t group, uint8_t tag) const {
        const __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i*>(&tags_[group]));
        const __m128i same = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
        return static_cast<uint32_t>(_mm_movemask_epi8(same)) & 0x7fff;
    }

    uint32_t groups_;
    Group* tags_;
    Entry* entries_;
};

}  // namespace polysome::bench
