/// Priority queues of a flow map's entries for ranks that change far more often than anyone asks for the least one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nf/memory.hpp"

namespace polysome {

/// An entry in a queue: `rank` is a lower bound of its rank, `seq` breaks ties. `stamp` is the user's.
struct Ranked {
    uint64_t rank;
    uint64_t seq;
    uint32_t entry;
    uint32_t stamp;

    friend bool operator<(const Ranked& a, const Ranked& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.seq < b.seq;
    }
};

/// A heap of at most `capacity` items, least first, four children to a node. push and pop are O(log n).
class Heap {
  public:
    explicit Heap(size_t capacity, Access access) : items_(capacity, access) {}

    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }
    size_t bytes() const { return most_ * sizeof(Ranked); }  ///< at its largest so far
    const Ranked& top() const { return items_[0]; }

    void push(const Ranked& item) {
        size_t at = size_++;
        most_ = std::max(most_, size_);
        while (at > 0 && item < items_[(at - 1) / 4]) {
            items_[at] = items_[(at - 1) / 4];
            at = (at - 1) / 4;
        }
        items_[at] = item;
    }

    void pop() {
        const Ranked last = items_[--size_];
        if (size_ > 0) sink(0, last);
    }

    void replace_top(const Ranked& item) { sink(0, item); }

    /// Keeps those for which `keep(item)`. O(n).
    template <class Keep>
    void filter(Keep keep) {
        const auto drop = [&](const Ranked& item) { return !keep(item); };
        size_ = static_cast<size_t>(std::remove_if(items_.data(), items_.data() + size_, drop) - items_.data());
        if (size_ < 2) return;
        for (size_t at = (size_ - 2) / 4 + 1; at-- > 0;) sink(at, Ranked(items_[at]));
    }

  private:
    void sink(size_t at, const Ranked& item) {
        for (;;) {
            const size_t first = 4 * at + 1;
            if (first >= size_) break;
            const size_t end = std::min(first + 4, size_);
            size_t least = first;
            for (size_t i = first + 1; i < end; ++i) {
                if (items_[i] < items_[least]) least = i;
            }
            if (!(items_[least] < item)) break;
            items_[at] = items_[least];
            at = least;
        }
        items_[at] = item;
    }

    MappedArray<Ranked> items_;
    size_t size_ = 0;
    size_t most_ = 0;
};

/// At most `capacity` items that are taken out least first, after all have been put in. sort is O(n log n), O(n) if
/// they came in order.
class Run {
  public:
    explicit Run(size_t capacity) : items_(capacity, Access::sparse) {}

    bool empty() const { return first_ == end_; }
    size_t size() const { return end_ - first_; }
    size_t bytes() const { return most_ * sizeof(Ranked); }  ///< at its largest so far
    const Ranked& operator[](size_t i) const { return items_[first_ + i]; }
    const Ranked& top() const { return items_[first_]; }

    void append(const Ranked& item) {
        items_[end_++] = item;
        most_ = std::max(most_, end_);
    }
    void sort() {
        Ranked *const from = items_.data() + first_, *const to = items_.data() + end_;
        if (!std::is_sorted(from, to)) std::sort(from, to);
    }
    void pop() {
        if (++first_ == end_) first_ = end_ = 0;
    }
    /// Keeps those for which `keep(item)`. O(n).
    template <class Keep>
    void filter(Keep keep) {
        const auto drop = [&](const Ranked& item) { return !keep(item); };
        const Ranked* const end = std::remove_if(items_.data() + first_, items_.data() + end_, drop);
        end_ = static_cast<size_t>(end - items_.data());
        if (empty()) first_ = end_ = 0;
    }

  private:
    MappedArray<Ranked> items_;
    size_t first_ = 0, end_ = 0;
    size_t most_ = 0;
};

/// How many items a queue of lower bounds may hold while `live` of them hold, before it is swept.
constexpr size_t note_limit(size_t live) { return 2 * live + 64; }

/// Entries by (rank, seq) for ranks that only grow, at no cost, as long as an entry lives. `Store` has rank(entry) and
/// seq(entry), which no two entries share ever; an entry whose seq is another has ended. push and first are
/// O(log n) amortized over pushes and growths.
class LazyHeap {
  public:
    explicit LazyHeap(uint64_t capacity) : heap_(note_limit(capacity) + 1, Access::random) {}

    /// Adds an entry; `live` are those that have not ended, this one among them.
    template <class Store>
    void push(const Store& store, uint32_t entry, size_t live) {
        heap_.push({store.use_rank(entry), store.seq(entry), entry, 0});
        if (heap_.size() > note_limit(live))
            heap_.filter([&](const Ranked& item) { return store.seq(item.entry) == item.seq; });
    }

    /// The least entry; there is one.
    template <class Store>
    uint32_t first(const Store& store) {
        for (;;) {
            Ranked item = heap_.top();
            if (store.seq(item.entry) != item.seq) {
                heap_.pop();
                continue;
            }
            const uint64_t rank = store.use_rank(item.entry);
            if (rank == item.rank) return item.entry;
            item.rank = rank;
            heap_.replace_top(item);
        }
    }

    size_t bytes() const { return heap_.bytes(); }

  private:
    Heap heap_;
};

}  // namespace polysome
