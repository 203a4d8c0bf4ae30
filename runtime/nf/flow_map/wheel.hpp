/// The timing wheel of a flow map: which entry is due first.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "nf/flow_map/heap.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Where an entry is in the wheel; at first `{0, WheelLink::nowhere}`.
struct WheelLink {
    static constexpr uint32_t last = UINT32_MAX;          ///< `next` of the last in a slot
    static constexpr uint32_t in_heap = UINT32_MAX - 1;   ///< `next`; `prev` is the ticket
    static constexpr uint32_t nowhere = UINT32_MAX - 2;   ///< `next`
    static constexpr uint32_t first = uint32_t{1} << 31;  ///< `prev` of the first in a slot: first + slot

    uint32_t prev;
    uint32_t next;
};

/// Entries by (rank, seq), where ranks are times that grow at no cost: every entry is held by a lower bound of its
/// rank.
///
/// A ring of slots, each a doubly linked list of the entries whose bound is in its stretch of time; slots whose time
/// has come are emptied into a heap, which is exact. `Store` has link(entry), rank(entry), seq(entry) and touch(entry),
/// which prefetches what rank reads. An entry of rank NEVER is not held. Adding and removing are O(1), first O(1) if
/// nothing has that rank; all else is O(log n) amortized over additions and growths, n those of one slot. Memory is
/// bounded by the capacity.
class Wheel {
  public:
    static constexpr uint32_t none = UINT32_MAX;

    /// For ranks that are usually less than `span` apart (others are handled, but less quickly).
    Wheel(uint64_t capacity, uint64_t span)
        : shift_(static_cast<unsigned>(std::bit_width(span / (slots - 2)))),
          heads_(slots),
          heap_(heap_limit(capacity) + 1) {
        if (shift_ > 63) shift_ = 63;
    }

    /// Takes in an entry that is nowhere; `now` is the time.
    template <class Store>
    void add(Store& store, uint32_t entry, uint64_t rank, uint64_t now) {
        if (rank == NEVER) return;
        quiet_ = std::min(quiet_, rank);
        uint64_t slot = rank >> shift_;
        if (linked_ == 0) position_ = now >> shift_;
        if (slot < position_) return add_to_heap(store, entry, rank);
        if (slot - position_ >= slots) [[unlikely]] {
            const uint64_t today = std::max(position_, now >> shift_);
            position_ = summary_ == 0 ? today : std::min(first_slot(), today);
            if (slot < position_) return add_to_heap(store, entry, rank);
            slot = std::min(slot, position_ + slots - 1);
        }
        link(store, entry, static_cast<uint32_t>(slot % slots));
    }

    /// Takes an entry out, wherever it is.
    template <class Store>
    void remove(Store& store, uint32_t entry) {
        WheelLink& at = store.link(entry);
        if (at.next == WheelLink::in_heap) {
            --in_heap_;
        } else if (at.next != WheelLink::nowhere) {
            if (at.next != WheelLink::last) store.link(at.next).prev = at.prev;
            if (at.prev < WheelLink::first) {
                store.link(at.prev).next = at.next;
            } else {
                const uint32_t slot = at.prev - WheelLink::first;
                set_head(slot, at.next);
            }
            --linked_;
        }
        at.next = WheelLink::nowhere;
    }

    /// The entry with the least (rank, seq) whose rank is at most `limit`, else none.
    template <class Store>
    uint32_t first(Store& store, uint64_t limit, uint64_t now) {
        if (limit < quiet_) [[likely]]
            return none;
        for (;;) {
            settle_top(store, limit, now);
            const uint64_t top = heap_.empty() ? NEVER : heap_.top().rank;
            const uint64_t slot = linked_ == 0 ? 0 : first_slot();
            const uint64_t start = linked_ == 0 ? NEVER : slot << shift_;
            if (linked_ != 0 && start <= limit && start <= top) {
                open(store, slot, now);
            } else if (top <= limit && !heap_.empty()) {
                return heap_.top().entry;
            } else {
                quiet_ = std::min(top, start);
                return none;
            }
        }
    }

    size_t bytes() const { return heads_.bytes() + heap_.most() * sizeof(Ranked); }

  private:
    static constexpr uint32_t slots = 4096;
    static constexpr size_t chunk = 16;  ///< entries of a slot that are read together

    /// Makes the top of the heap exact, unless it is past `limit`.
    template <class Store>
    void settle_top(Store& store, uint64_t limit, uint64_t now) {
        while (!heap_.empty() && heap_.top().rank <= limit) {
            const Ranked top = heap_.top();
            if (!current(store, top)) {
                heap_.pop();
                continue;
            }
            const uint64_t rank = store.rank(top.entry);
            if (rank == top.rank) return;
            heap_.pop();
            --in_heap_;
            store.link(top.entry).next = WheelLink::nowhere;
            add(store, top.entry, rank, now);
        }
    }

    template <class Store>
    static bool current(Store& store, const Ranked& item) {
        const WheelLink& at = store.link(item.entry);
        return at.next == WheelLink::in_heap && at.prev == item.ticket && store.seq(item.entry) == item.seq;
    }

    template <class Store>
    void add_to_heap(Store& store, uint32_t entry, uint64_t rank) {
        if (heap_.size() >= heap_limit(in_heap_) || ticket_ == UINT32_MAX) sweep(store);
        store.link(entry) = {ticket_, WheelLink::in_heap};
        heap_.push({rank, store.seq(entry), entry, ticket_++});
        ++in_heap_;
    }

    /// Takes what is not current out of the heap.
    template <class Store>
    void sweep(Store& store) {
        ticket_ = 0;
        heap_.filter([&](Ranked& item) {
            if (!current(store, item)) return false;
            item.ticket = store.link(item.entry).prev = ticket_++;
            return true;
        });
    }

    template <class Store>
    void link(Store& store, uint32_t entry, uint32_t slot) {
        const uint32_t next = head(slot);
        store.link(entry) = {WheelLink::first + slot, next};
        if (next != WheelLink::last) store.link(next).prev = entry;
        set_head(slot, entry);
        ++linked_;
    }

    /// Empties the slot: what is due within it goes to the heap, the rest to where it belongs by now.
    template <class Store>
    void open(Store& store, uint64_t slot, uint64_t now) {
        const auto place = static_cast<uint32_t>(slot % slots);
        uint32_t entry = head(place);
        set_head(place, WheelLink::last);
        position_ = slot + 1;
        ++linked_;  // while the slot is being emptied the wheel stays where it is
        while (entry != WheelLink::last) {
            std::array<uint32_t, chunk> batch;
            size_t n = 0;
            for (; n < chunk && entry != WheelLink::last; ++n) {
                batch[n] = entry;
                store.touch(entry);
                entry = store.link(entry).next;
            }
            for (size_t i = 0; i < n; ++i) {
                --linked_;
                store.link(batch[i]).next = WheelLink::nowhere;
                add(store, batch[i], store.rank(batch[i]), now);
            }
        }
        --linked_;
    }

    /// The number (time >> shift) of the first slot that is not empty; there is one.
    uint64_t first_slot() const {
        const auto from = static_cast<uint32_t>(position_ % slots);
        const uint32_t word = from / 64;
        uint32_t found;
        if (const uint64_t here = full_[word] >> (from % 64); here != 0) {
            found = from + static_cast<uint32_t>(std::countr_zero(here));
        } else {
            const uint64_t later = word == 63 ? 0 : summary_ & (~uint64_t{0} << (word + 1));
            const auto at = static_cast<uint32_t>(std::countr_zero(later != 0 ? later : summary_));
            found = at * 64 + static_cast<uint32_t>(std::countr_zero(full_[at]));
        }
        return position_ + (found - from) % slots;
    }

    uint32_t head(uint32_t slot) const { return ~heads_[slot]; }  // so that zeroed memory is empty slots

    void set_head(uint32_t slot, uint32_t entry) {
        heads_[slot] = ~entry;
        const uint64_t bit = uint64_t{1} << (slot % 64);
        uint64_t& word = full_[slot / 64];
        word = entry == WheelLink::last ? word & ~bit : word | bit;
        const uint64_t summary = uint64_t{1} << (slot / 64);
        summary_ = word == 0 ? summary_ & ~summary : summary_ | summary;
    }

    unsigned shift_;                           ///< a slot is 2^shift ns
    uint64_t position_ = 0;                    ///< entries of earlier slots are in the heap
    uint64_t quiet_ = NEVER;                   ///< no rank is less
    uint64_t linked_ = 0;                      ///< entries in slots
    uint64_t in_heap_ = 0;                     ///< entries in the heap
    uint32_t ticket_ = 0;                      ///< of the next to enter the heap
    uint64_t summary_ = 0;                     ///< bit i: full_[i] is not 0
    std::array<uint64_t, slots / 64> full_{};  ///< bit i: slot i is not empty
    MappedArray<uint32_t> heads_;
    Heap heap_;
};

}  // namespace polysome
