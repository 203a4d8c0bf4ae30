/// The hash table of a flow map: entry numbers by hash.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "nf/memory.hpp"

namespace polysome {

/// The places (bit i: place i) of 8 tags that equal `tag`.
inline unsigned match_tags_portable(const uint16_t* tags, uint16_t tag) {
    unsigned places = 0;
    for (unsigned i = 0; i < 8; ++i) places |= static_cast<unsigned>(tags[i] == tag) << i;
    return places;
}

#if defined(__SSE2__)
/// `tags` is aligned to 16 bytes.
inline unsigned match_tags(const uint16_t* tags, uint16_t tag) {
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
    const __m128i equal = _mm_cmpeq_epi16(all, _mm_set1_epi16(static_cast<int16_t>(tag)));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())));
}
#else
inline unsigned match_tags(const uint16_t* tags, uint16_t tag) { return match_tags_portable(tags, tag); }
#endif

/// Entry numbers (below 2^31) by 64-bit hash; whoever asks compares keys. A power of two of buckets of one cache line,
/// at most 80 % of the places taken, linear probing from bucket to bucket. A bucket counts the entries that passed it
/// by on their way to a later one, so that an absent key costs one line unless its bucket overflowed, and a deletion
/// leaves no trace. All O(1) expected, O(size) if hashes collide.
class EntryTable {
  public:
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr unsigned places = 8;  ///< of a bucket
    /// A bucket has at least 3.2 entries when the map is full.
    static constexpr size_t most_bytes_per_entry = 20;

    /// For at most `capacity` entries at a time.
    explicit EntryTable(uint64_t capacity)
        : buckets_(std::bit_ceil(capacity * 10 / (8 * places) + 1)), mask_(buckets_.size() - 1) {}

    void prefetch(uint64_t hash) const { __builtin_prefetch(&buckets_[hash & mask_]); }

    /// Calls `visit(entry)` for those in the first bucket that have the tag of `hash`.
    template <class Visit>
    void candidates(uint64_t hash, Visit visit) const {
        const Line& line = buckets_[hash & mask_];
        for (unsigned found = match_tags(line.tags, tag_of(hash)); found != 0; found &= found - 1)
            visit(line.entries[std::countr_zero(found)]);
    }

    /// The entry with this hash for which `same(entry)`, or none.
    template <class Same>
    uint32_t find(uint64_t hash, Same same) const {
        const uint16_t tag = tag_of(hash);
        size_t at = hash & mask_;
        for (size_t further = mask_;; --further) {
            const Line& line = buckets_[at];
            for (unsigned found = match_tags(line.tags, tag); found != 0; found &= found - 1) {
                const uint32_t entry = line.entries[std::countr_zero(found)];
                if (same(entry)) [[likely]]
                    return entry;
            }
            if (line.passed == 0 || further == 0) [[likely]]
                return none;
            at = (at + 1) & mask_;
        }
    }

    /// Adds an entry that is not there.
    void insert(uint64_t hash, uint32_t entry) {
        for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Line& line = buckets_[at];
            if (const unsigned empty = match_tags(line.tags, 0); empty != 0) [[likely]] {
                const int place = std::countr_zero(empty);
                line.tags[place] = tag_of(hash);
                line.entries[place] = entry;
                return;
            }
            ++line.passed;
        }
    }

    /// Takes the entry out; nothing if it is not there.
    void erase(uint64_t hash, uint32_t entry) {
        uint32_t* const place = locate(hash, entry);
        if (place == nullptr) return;
        const size_t last = static_cast<size_t>(
            reinterpret_cast<Line*>(reinterpret_cast<uintptr_t>(place) & ~uintptr_t{63}) - buckets_.data());
        buckets_[last].tags[place - buckets_[last].entries] = 0;
        for (size_t at = hash & mask_; at != last; at = (at + 1) & mask_) --buckets_[at].passed;
    }

    /// Puts `entry` in the place of `old`, which is there and has the same hash.
    void replace(uint64_t hash, uint32_t old, uint32_t entry) { *locate(hash, old) = entry; }

    size_t bytes() const { return buckets_.bytes(); }

  private:
    struct alignas(64) Line {
        uint16_t tags[places];  ///< 0: an empty place
        uint32_t entries[places];
        uint32_t passed;  ///< entries that found no place here
    };
    static_assert(sizeof(Line) == 64);

    static uint16_t tag_of(uint64_t hash) {
        const auto tag = static_cast<uint16_t>(hash >> 48);
        return tag == 0 ? 1 : tag;
    }

    uint32_t* locate(uint64_t hash, uint32_t entry) {
        const uint16_t tag = tag_of(hash);
        size_t at = hash & mask_;
        for (size_t further = mask_;; --further) {
            Line& line = buckets_[at];
            for (unsigned found = match_tags(line.tags, tag); found != 0; found &= found - 1) {
                const int place = std::countr_zero(found);
                if (line.entries[place] == entry) [[likely]]
                    return &line.entries[place];
            }
            if (line.passed == 0 || further == 0) return nullptr;
            at = (at + 1) & mask_;
        }
    }

    MappedArray<Line> buckets_;
    size_t mask_;
};

}  // namespace polysome
