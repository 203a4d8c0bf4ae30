/// The hash tables of a flow map: which entries may have a key with a given hash.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "nf/memory.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Which of `count` bytes (bit i: byte i) equal `tag`.
template <unsigned count>
uint32_t match_tags_portable(const uint8_t* tags, uint8_t tag) {
    uint32_t places = 0;
    for (unsigned i = 0; i < count; ++i) places |= static_cast<uint32_t>(tags[i] == tag) << i;
    return places;
}

/// The same for 16 or 32 bytes that are aligned to as many.
template <unsigned count>
uint32_t match_tags(const uint8_t* tags, uint8_t tag) {
#if defined(__AVX2__)
    if constexpr (count == 32) {
        using Bytes = char __attribute__((vector_size(32)));  // immintrin.h takes long to compile
        const Bytes equal = *reinterpret_cast<const Bytes*>(tags) == static_cast<char>(tag);
        return static_cast<uint32_t>(__builtin_ia32_pmovmskb256(equal));
    }
#endif
#if defined(__SSE2__)
    if constexpr (count == 16) {
        const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
        return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8(static_cast<char>(tag)))));
    } else {
        return match_tags<16>(tags, tag) | match_tags<16>(tags + 16, tag) << 16;
    }
#else
    return match_tags_portable<count>(tags, tag);
#endif
}

/// A bucket whose places are themselves the entries: entry `30 b + i` is place i of bucket b. It is searched from a
/// place on that the hash says, so that hardly any entry is behind one that has the same tag by chance.
struct alignas(32) PlaceBucket {
    static constexpr unsigned places = 30;
    uint8_t tags[places];  ///< 0: an empty place
    uint16_t passed;       ///< entries that found no place here

    /// Bit i: place (from + i) % 32 has the tag.
    uint32_t match(uint8_t tag, unsigned from) const {
        return std::rotr(match_tags<32>(tags, tag) & ((1u << places) - 1), static_cast<int>(from));
    }
    static unsigned from(uint64_t hash) { return static_cast<unsigned>(hash >> 8) % 32; }
    static unsigned place(unsigned i, unsigned from) { return (from + i) % 32; }
    uint32_t entry(size_t bucket, unsigned place) const { return static_cast<uint32_t>(bucket * places + place); }
};
static_assert(sizeof(PlaceBucket) == 32);

/// A bucket that says which entry is in each of its places.
struct alignas(64) EntryBucket {
    static constexpr unsigned places = 12;
    uint8_t tags[places];  ///< 0: an empty place
    uint32_t passed;       ///< entries that found no place here
    uint32_t entries[places];

    /// Bit i: place i has the tag.
    uint32_t match(uint8_t tag, unsigned) const { return match_tags<16>(tags, tag) & ((1u << places) - 1); }
    static unsigned from(uint64_t) { return 0; }
    static unsigned place(unsigned i, unsigned) { return i; }
    uint32_t entry(size_t, unsigned place) const { return entries[place]; }
};
static_assert(sizeof(EntryBucket) == 64);

/// What both kinds of table are: buckets with 8 bits of each entry's hash (the tag), at most 75 % of the places taken,
/// linear probing from bucket to bucket; whoever asks compares keys. A bucket counts the entries that passed it by on
/// their way to a later one, so that an absent key costs one bucket unless that overflowed, and a deletion leaves no
/// trace. All O(1) expected, O(size) if hashes collide.
template <class Bucket>
class TagTable {
  public:
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr unsigned places = Bucket::places;  ///< of a bucket
    static constexpr double bytes_per_place = static_cast<double>(sizeof(Bucket)) / places;

    void prefetch(uint64_t hash) const { __builtin_prefetch(&buckets_[home(hash)]); }

    /// The entry with this hash for which `same(entry)`, or none.
    template <class Same>
    uint32_t find(uint64_t hash, Same same) const {
        const uint8_t tag = tag_of(hash);
        const unsigned from = Bucket::from(hash);
        size_t at = home(hash);
        for (size_t further = buckets_.size() - 1;; --further) {
            const Bucket& line = buckets_[at];
            for (uint32_t found = line.match(tag, from); found != 0; found &= found - 1) {
                const uint32_t entry = line.entry(at, place_of(found, from));
                if (same(entry)) [[likely]]
                    return entry;
            }
            if (line.passed == 0 || further == 0) [[likely]]
                return none;
            at = after(at);
        }
    }

    size_t bytes() const { return buckets_.bytes(); }

  protected:
    using Passed = decltype(Bucket::passed);
    static constexpr Passed most_passed = static_cast<Passed>(~Passed{0});

    struct Place {
        size_t bucket;
        unsigned at;
    };

    /// For at most `capacity` entries at a time. With more than three quarters of the places taken most buckets would
    /// come to be passed by, where entries come and go all the time.
    explicit TagTable(uint64_t capacity) : buckets_(capacity * 4 / (uint64_t{3} * places) + 1) {}

    static uint8_t tag_of(uint64_t hash) {
        const auto tag = static_cast<uint8_t>(hash);
        return tag == 0 ? 1 : tag;
    }
    /// The place that the lowest bit of what match(…, from) found stands for.
    static unsigned place_of(uint32_t found, unsigned from) {
        return Bucket::place(static_cast<unsigned>(std::countr_zero(found)), from);
    }
    size_t home(uint64_t hash) const { return static_cast<size_t>(static_cast<u128>(hash) * buckets_.size() >> 64); }
    size_t after(size_t bucket) const { return bucket + 1 == buckets_.size() ? 0 : bucket + 1; }

    /// Takes an empty place for the hash.
    Place take(uint64_t hash) {
        const unsigned from = Bucket::from(hash);
        for (size_t at = home(hash);; at = after(at)) {
            Bucket& line = buckets_[at];
            if (const uint32_t empty = line.match(0, from); empty != 0) [[likely]] {
                const unsigned place = place_of(empty, from);
                line.tags[place] = tag_of(hash);
                return {at, place};
            }
            if (line.passed != most_passed) ++line.passed;
        }
    }

    /// Empties the place that `take(hash)` took. A count that reached its end stays there: it is not exact any more.
    void give_back(uint64_t hash, Place place) {
        buckets_[place.bucket].tags[place.at] = 0;
        for (size_t at = home(hash); at != place.bucket; at = after(at)) {
            if (buckets_[at].passed != most_passed) --buckets_[at].passed;
        }
    }

    MappedArray<Bucket> buckets_;
};

/// A table that gives each entry its number: where it is. 32 bytes for 30 places, 1.42 bytes per entry of a full map,
/// so that the table of millions stays in a cache and a lookup costs one access to memory, the entry's.
class PlaceTable : public TagTable<PlaceBucket> {
  public:
    explicit PlaceTable(uint64_t capacity) : TagTable(capacity) {}

    /// Entry numbers are below this.
    size_t numbers() const { return buckets_.size() * places; }

    /// Calls `candidate(entry)` for the first that may have this hash, which nearly always is the one that has it, if
    /// any; else `unused(entry)` with the number that insert would give. Looks no further than a few buckets. Returns
    /// the number, that of any entry if it found neither.
    template <class Candidate, class Unused>
    [[gnu::always_inline]] uint32_t expect(uint64_t hash, Candidate candidate, Unused unused) const {
        const size_t at = home(hash);
        const unsigned from = PlaceBucket::from(hash);
        const uint32_t found = buckets_[at].match(tag_of(hash), from);
        // One branch that hardly ever is taken: what no key is behind has the hash 0, and may find nothing.
        if ((found | uint32_t{hash == 0}) == 0) [[unlikely]]
            return expect_further(hash, candidate, unused);
        const uint32_t entry = buckets_[at].entry(at, place_of(found, from));
        candidate(entry);
        return entry;
    }

    /// Is there such an entry, inserted with this hash or another one with the same tag?
    bool holds(uint32_t entry, uint64_t hash) const { return tag(entry) == tag_of(hash); }
    bool holds(uint32_t entry) const { return tag(entry) != 0; }

    /// Adds an entry and returns its number.
    uint32_t insert(uint64_t hash) {
        const Place place = take(hash);
        return buckets_[place.bucket].entry(place.bucket, place.at);
    }

    /// Takes out the entry that was inserted with this hash.
    void erase(uint64_t hash, uint32_t entry) { give_back(hash, {entry / places, entry % places}); }

    /// For erase.
    void prefetch_entry(uint32_t entry) const { __builtin_prefetch(&buckets_[entry / places], 1); }

    /// Calls `visit(entry)` for all entries, in no order. O(capacity).
    template <class Visit>
    void each(Visit visit) const {
        for (size_t at = 0; at < buckets_.size(); ++at) {
            const uint32_t empty = buckets_[at].match(0, 0);
            for (uint32_t taken = ~empty & ((1u << places) - 1); taken != 0; taken &= taken - 1)
                visit(buckets_[at].entry(at, place_of(taken, 0)));
        }
    }

  private:
    /// The same without haste.
    template <class Candidate, class Unused>
    [[gnu::noinline]] uint32_t expect_further(uint64_t hash, Candidate candidate, Unused unused) const {
        const uint8_t tag = tag_of(hash);
        const unsigned from = PlaceBucket::from(hash);
        size_t at = home(hash);
        uint32_t next = none;
        for (unsigned reach = 4; reach > 0; --reach) {
            const PlaceBucket& line = buckets_[at];
            if (const uint32_t found = line.match(tag, from); found != 0) {
                const uint32_t entry = line.entry(at, place_of(found, from));
                candidate(entry);
                return entry;
            }
            if (const uint32_t empty = line.match(0, from); empty != 0 && next == none)
                next = line.entry(at, place_of(empty, from));
            if (line.passed == 0 && next != none) break;
            at = after(at);
        }
        if (next == none) return 0;
        unused(next);
        return next;
    }

    uint8_t tag(uint32_t entry) const { return buckets_[entry / places].tags[entry % places]; }
};

/// A table of entries that have their numbers already: 64 bytes for 12 places, 14.2 bytes per entry when full.
class EntryTable : public TagTable<EntryBucket> {
  public:
    /// Half as full as it may be, so that hardly any bucket is passed by: what lies in a later bucket is not fetched
    /// ahead.
    static constexpr uint64_t room = 2;
    static constexpr double bytes_per_entry = room * bytes_per_place;

    explicit EntryTable(uint64_t capacity) : TagTable(room * capacity) {}

    /// Calls `visit(entry)` for the first in the first bucket that may have this hash, and returns its number: that of
    /// any entry, or 0, if none has. Without a branch: half of all keys may be none.
    template <class Visit>
    uint32_t expect(uint64_t hash, Visit visit) const {
        const EntryBucket& line = buckets_[home(hash)];
        const uint32_t entry = line.entries[place_of(line.match(tag_of(hash), 0) | 1u << (places - 1), 0)];
        visit(entry);
        return entry;
    }

    /// Adds an entry that is not there.
    void insert(uint64_t hash, uint32_t entry) {
        const Place place = take(hash);
        buckets_[place.bucket].entries[place.at] = entry;
    }

    /// Takes the entry out; nothing if it is not there.
    void erase(uint64_t hash, uint32_t entry) {
        if (const Place place = locate(hash, entry); place.at < places) give_back(hash, place);
    }

    /// Puts `entry` in the place of `old`, which is there and has the same hash.
    void replace(uint64_t hash, uint32_t old, uint32_t entry) {
        const Place place = locate(hash, old);
        buckets_[place.bucket].entries[place.at] = entry;
    }

  private:
    /// Where the entry is; `at` is `places` if nowhere.
    Place locate(uint64_t hash, uint32_t entry) const {
        const uint8_t tag = tag_of(hash);
        size_t at = home(hash);
        for (size_t further = buckets_.size() - 1;; --further) {
            const EntryBucket& line = buckets_[at];
            for (uint32_t found = line.match(tag, 0); found != 0; found &= found - 1) {
                const unsigned place = place_of(found, 0);
                if (line.entries[place] == entry) [[likely]]
                    return {at, place};
            }
            if (line.passed == 0 || further == 0) return {at, places};
            at = after(at);
        }
    }
};

}  // namespace polysome
