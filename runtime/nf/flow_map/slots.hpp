/// The slots of a timing wheel: a ring of lists that are only ever appended to and emptied.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nf/memory.hpp"

namespace polysome {

/// A note in a slot to look at an entry; `stamp` tells whether it still holds.
struct Note {
    uint32_t entry;
    uint32_t stamp;
};

/// Lists of notes, in the order of appending, in chunks of two cache lines: appending writes to the end of one list and
/// to nothing else, so to a line that is in the cache if many notes go to the same slot. append is O(1), drain
/// O(notes), next O(slots / 4096).
class Slots {
  public:
    static constexpr uint32_t none = UINT32_MAX;
    /// Of a note in a full chunk; the last chunk of each slot may have room.
    static constexpr double bytes_per_note = 128.0 / 15;

    /// `count`, a power of two and at least 64, slots for at most `notes` at a time.
    Slots(uint32_t count, uint64_t notes)
        : lists_(count),
          chunks_(notes / Chunk::room + count + 2, Access::sparse),
          full_(count / 64),
          summary_((full_.size() + 63) / 64) {}

    void append(uint32_t slot, Note note) {
        List& list = lists_[slot];
        if (list.last == 0 || chunks_[list.last].size == Chunk::room) lengthen(slot);
        Chunk& chunk = chunks_[list.last];
        chunk.notes[chunk.size++] = note;
    }

    /// Empties the slot: calls `visit(note)` for each, which may append to any slot, and some time before, where there
    /// is time, `ahead(entry)`.
    template <class Ahead, class Visit>
    void drain(uint32_t slot, Ahead ahead, Visit visit) {
        uint32_t at = lists_[slot].first;
        lists_[slot] = {0, 0};
        full_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
        if (full_[slot / 64] == 0) summary_[slot / 4096] &= ~(uint64_t{1} << (slot / 64 % 64));
        uint32_t later = at;  // the chunk that is announced next; the one behind it is on its way
        for (unsigned i = 0; i < lead; ++i) later = announce(later, ahead);
        while (at != 0) {
            later = announce(later, ahead);
            const Chunk chunk = chunks_[at];
            chunks_[at].next = unused_;
            unused_ = at;
            at = chunk.next;
            for (uint32_t i = 0; i < chunk.size; ++i) visit(chunk.notes[i]);
        }
    }

    /// Fetches what drain reads first; the slot is not empty.
    void prefetch(uint32_t slot) const { prefetch_chunk(lists_[slot].first); }

    /// The first slot at or, around the ring, after `from` that is not empty; none if all are.
    uint32_t next(uint32_t from) const {
        const uint32_t word = from / 64;
        if (const uint64_t here = full_[word] >> (from % 64); here != 0) return from + first_of(here);
        const uint32_t part = word / 64;
        const uint64_t later = word % 64 == 63 ? 0 : summary_[part] & (~uint64_t{0} << (word % 64 + 1));
        if (later != 0) return first_in(part * 64 + first_of(later));
        for (size_t i = 1; i <= summary_.size(); ++i) {
            const auto at = static_cast<uint32_t>((part + i) % summary_.size());
            if (summary_[at] != 0) return first_in(at * 64 + first_of(summary_[at]));
        }
        return none;
    }

    uint32_t count() const { return static_cast<uint32_t>(lists_.size()); }
    size_t bytes() const {
        return lists_.bytes() + fresh_ * sizeof(Chunk) + (full_.size() + summary_.size()) * sizeof(uint64_t);
    }

  private:
    /// Numbered from 1.
    struct alignas(64) Chunk {
        static constexpr uint32_t room = 15;
        uint32_t size;
        uint32_t next;  ///< 0: none
        Note notes[room];
    };
    static_assert(sizeof(Chunk) == 128);

    struct List {
        uint32_t first, last;  ///< 0: empty
    };

    static constexpr unsigned lead = 2;  ///< chunks that are announced before the first is visited

    static uint32_t first_of(uint64_t bits) { return static_cast<uint32_t>(std::countr_zero(bits)); }
    uint32_t first_in(uint32_t word) const { return word * 64 + first_of(full_[word]); }

    /// Appends an empty chunk.
    void lengthen(uint32_t slot) {
        uint32_t chunk = unused_;
        if (chunk == 0) {
            chunk = ++fresh_;
        } else {
            unused_ = chunks_[chunk].next;
        }
        chunks_[chunk].size = chunks_[chunk].next = 0;
        List& list = lists_[slot];
        if (list.last == 0) {
            list.first = chunk;
            full_[slot / 64] |= uint64_t{1} << (slot % 64);
            summary_[slot / 4096] |= uint64_t{1} << (slot / 64 % 64);
        } else {
            chunks_[list.last].next = chunk;
        }
        list.last = chunk;
    }

    void prefetch_chunk(uint32_t chunk) const {
        __builtin_prefetch(&chunks_[chunk]);
        __builtin_prefetch(&chunks_[chunk].notes[Chunk::room - 1]);
    }

    /// Fetches the entries of a chunk, and the chunk that follows, which is returned.
    template <class Ahead>
    uint32_t announce(uint32_t chunk, Ahead ahead) const {
        if (chunk == 0) return 0;
        const Chunk& now = chunks_[chunk];
        prefetch_chunk(now.next);
        for (uint32_t i = 0; i < now.size; ++i) ahead(now.notes[i].entry);
        return now.next;
    }

    MappedArray<List> lists_;
    MappedArray<Chunk> chunks_;
    uint32_t unused_ = 0;            ///< the first of a chain of chunks that are free again
    uint32_t fresh_ = 0;             ///< chunks that were ever used
    std::vector<uint64_t> full_;     ///< bit i: slot i is not empty
    std::vector<uint64_t> summary_;  ///< bit i: full_[i] is not 0
};

}  // namespace polysome
