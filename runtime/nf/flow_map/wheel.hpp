/// The timing wheel of a flow map: which entry is due first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "nf/flow_map/heap.hpp"
#include "nf/flow_map/slots.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Entries by (rank, seq), where ranks are times that grow at no cost: of every entry there is a note by a lower bound
/// of its rank.
///
/// A ring of slots, each with the notes whose bound is in its stretch of time. A slot whose time has come is opened:
/// what is due within it becomes the run, in order; entries that are added too late for that go to a heap. Notes are
/// not removed: a note whose stamp is not its entry's is passed over when it turns up, and all such are swept when they
/// are more than those that hold, so removing an entry costs nothing.
///
/// `Store` has size(), the entries that there are; rank(entry); seq(entry), which no two entries share ever, 0 if there
/// is no such entry any more; stamp(entry), another after each add; touch(entry), which fetches what these and the
/// end of the entry need, and touch_again(entry), once that has arrived, what it needs besides. An entry of rank NEVER
/// has no note. Adding is O(1), first O(1) if nothing has that rank; all else is O(log n) amortized over additions and
/// growths, n those of one slot. Memory is bounded by the capacity.
class Wheel {
  public:
    static constexpr uint32_t none = UINT32_MAX;

    /// For ranks that are usually less than `span` apart (others are handled, but less quickly).
    Wheel(uint64_t capacity, uint64_t span)
        : slots_(slots_for(capacity), note_limit(capacity) + 1),
          shift_(static_cast<unsigned>(std::bit_width(std::min(span, longest) / (slots_.count() - 2)))),
          run_(note_limit(capacity) + 1),
          heap_(note_limit(capacity) + 1, Access::sparse) {}

    /// Takes note of an entry that has none that holds, or one with a later bound and another stamp; `now` is the time.
    template <class Store>
    void add(const Store& store, const Ranked& item, uint64_t now) {
        const uint64_t rank = item.rank;
        if (rank == NEVER) return;
        quiet_ = std::min(quiet_, rank);
        if (notes_ >= note_limit(store.size())) [[unlikely]]
            sweep(store);
        if (first_slot_ == NEVER && run_.empty()) position_ = now >> shift_;
        ++notes_;
        place(item, now);
    }

    /// The entry with the least (rank, seq) whose rank is at most `limit`, else none.
    template <class Store>
    uint32_t first(Store& store, uint64_t limit, uint64_t now) {
        if (limit < quiet_) [[likely]]
            return none;
        for (; heap_.empty() && !run_.empty(); pop_run(store), --notes_) {  // slots come after the run
            const Ranked& top = run_.top();
            if (top.rank > limit) {
                quiet_ = top.rank;
                return none;
            }
            if (!holds(store, top)) continue;
            if (store.rank(top.entry) == top.rank) return top.entry;
            break;
        }
        return search(store, limit, now);
    }

    size_t bytes() const { return slots_.bytes() + run_.bytes() + heap_.bytes(); }

  private:
    static constexpr uint64_t longest = uint64_t{1} << 42;  ///< over an hour: longer spans do not make slots wider
    static constexpr size_t near = 4, far = 8;              ///< how far ahead in the run entries are fetched

    /// Enough that a full map has tens of entries in each.
    static uint32_t slots_for(uint64_t capacity) {
        return static_cast<uint32_t>(std::bit_ceil(std::clamp<uint64_t>(capacity / 64, 64, 1 << 17)));
    }

    template <class Store>
    static bool holds(const Store& store, const Ranked& item) {
        return store.seq(item.entry) == item.seq && store.stamp(item.entry) == item.stamp;
    }
    template <class Store>
    static bool holds(const Store& store, const Note& note) {
        return store.seq(note.entry) != 0 && store.stamp(note.entry) == note.stamp;
    }

    template <class Store>
    [[gnu::noinline]] uint32_t search(Store& store, uint64_t limit, uint64_t now) {
        for (;;) {
            settle_top(store, limit, now);
            const Ranked* const first = least();
            const uint64_t top = first == nullptr ? NEVER : first->rank;
            const uint64_t start = first_slot_ == NEVER ? NEVER : first_slot_ << shift_;
            if (first_slot_ != NEVER && start <= limit && start <= top) {
                open(store, first_slot_, now);
            } else if (first != nullptr && top <= limit) {
                return first->entry;
            } else {
                quiet_ = std::min(top, start);
                return none;
            }
        }
    }

    /// The least of run and heap.
    const Ranked* least() const {
        if (run_.empty()) return heap_.empty() ? nullptr : &heap_.top();
        return heap_.empty() || run_.top() < heap_.top() ? &run_.top() : &heap_.top();
    }

    /// Makes the least of run and heap exact, unless it is past `limit`.
    template <class Store>
    void settle_top(Store& store, uint64_t limit, uint64_t now) {
        for (const Ranked* first; (first = least()) != nullptr && first->rank <= limit;) {
            Ranked top = *first;
            const uint64_t rank = holds(store, top) ? store.rank(top.entry) : NEVER;
            if (rank == top.rank) return;
            pop(store, first);
            if (rank == NEVER) {
                --notes_;
            } else {
                top.rank = rank;
                place(top, now);
            }
        }
    }

    template <class Store>
    void pop(const Store& store, const Ranked* first) {
        if (first != &run_.top()) return heap_.pop();
        pop_run(store);
    }
    template <class Store>
    void pop_run(const Store& store) {
        run_.pop();
        if (far < run_.size()) store.touch(run_[far].entry);
        if (near < run_.size()) store.touch_again(run_[near].entry);
    }

    /// Puts a note where its rank belongs.
    void place(const Ranked& item, uint64_t now) {
        const uint64_t slot = item.rank >> shift_;
        if (slot - position_ < slots_.count()) [[likely]] {
            append(item, slot);
        } else {
            place_far(item, now);
        }
    }
    void append(const Ranked& item, uint64_t slot) {
        first_slot_ = std::min(first_slot_, slot);
        slots_.append(ring(slot), {item.entry, item.stamp});
    }
    /// The same for one that is too late for its slot, or too early.
    [[gnu::noinline]] void place_far(const Ranked& item, uint64_t now) {
        const uint64_t slot = item.rank >> shift_;
        if (slot >= position_) position_ = std::min(first_slot_, std::max(position_, now >> shift_));
        if (slot < position_) {
            heap_.push(item);
        } else {
            append(item, std::min(slot, position_ + slots_.count() - 1));
        }
    }

    /// Empties the first slot: what is due within it is the run, which was empty; the rest goes to where it belongs by
    /// now.
    template <class Store>
    void open(Store& store, uint64_t slot, uint64_t now) {
        position_ = slot + 1;
        find_first_slot();
        if (first_slot_ == slot + slots_.count()) first_slot_ = NEVER;  // it is the only one
        const auto touch = [&](uint32_t entry) { store.touch(entry); };
        slots_.drain(ring(slot), touch, [&](const Note& note) {
            const uint64_t rank = holds(store, note) ? store.rank(note.entry) : NEVER;
            if (rank == NEVER) {
                --notes_;
                return;
            }
            const Ranked item{rank, store.seq(note.entry), note.entry, note.stamp};
            if (rank >> shift_ <= slot) {
                run_.append(item);
            } else {
                place(item, now);
            }
        });
        run_.sort();
        if (first_slot_ != NEVER) slots_.prefetch(ring(first_slot_));
    }

    /// Drops the notes that do not hold. O(notes + slots / 64).
    template <class Store>
    void sweep(const Store& store) {
        const auto keep = [&](const Ranked& item) { return holds(store, item); };
        run_.filter(keep);
        heap_.filter(keep);
        notes_ = run_.size() + heap_.size();
        const auto touch = [&](uint32_t entry) { store.touch(entry); };
        for (uint32_t done = 0; done < slots_.count();) {
            const uint32_t slot = slots_.next(done);
            if (slot < done || slot == Slots::none) break;
            slots_.drain(slot, touch, [&](const Note& note) {
                if (!holds(store, note)) return;
                slots_.append(slot, note);
                ++notes_;
            });
            done = slot + 1;
        }
        find_first_slot();
    }

    void find_first_slot() {
        const uint32_t next = slots_.next(ring(position_));
        first_slot_ = next == Slots::none ? NEVER : position_ + (next - ring(position_)) % slots_.count();
    }

    uint32_t ring(uint64_t slot) const { return static_cast<uint32_t>(slot % slots_.count()); }

    Slots slots_;
    unsigned shift_;               ///< a slot is 2^shift ns
    uint64_t position_ = 0;        ///< notes of earlier slots are in the run or the heap
    uint64_t first_slot_ = NEVER;  ///< the number (time >> shift) of the first slot that is not empty
    uint64_t quiet_ = NEVER;       ///< no rank is less
    uint64_t notes_ = 0;           ///< those that do not hold any more included
    Run run_;
    Heap heap_;
};

}  // namespace polysome
