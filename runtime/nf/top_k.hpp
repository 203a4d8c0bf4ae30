/// `top_k<K>`: the keys counted most often (STATE.md, section 9).
///
/// Space-Saving: Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams"
/// (ICDT'05), section 3.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// `counters` counters (1 to 2^31), each for one key, of which the `k` highest are shown. Key is an array of words. The
/// least counter is on top of a heap, each key's counter is found by a hash table: `add` is O(log counters), `estimate`
/// O(1), `items` O(counters · log k).
template <class Key>
class TopK {
  public:
    TopK(uint64_t k, uint64_t counters, uint64_t seed = 0) : k_(k), most_(counters), seed_(seed) { clear(); }

    /// Counts `key` n times; if it has no counter and none is left, it inherits the least one.
    void add(const Key& key, uint64_t n = 1) {
        if (n == 0) return;
        size_t slot = find(key);
        if (slots_[slot] != none) {
            Counter& counter = counters_[slots_[slot]];
            raise(counter, n);
            sift_down(counter.at);
        } else if (counters_.size() < most_) {
            slots_[slot] = static_cast<uint32_t>(counters_.size());
            counters_.push_back({key, n, inserted_++, static_cast<uint32_t>(heap_.size())});
            heap_.push_back(slots_[slot]);
            sift_up(heap_.size() - 1);
            if (counters_.size() * 2 > slots_.size()) grow();
        } else {
            const uint32_t least = heap_[0];
            erase(find(counters_[least].key));
            Counter& counter = counters_[least];
            counter.key = key;
            counter.inserted = inserted_++;
            raise(counter, n);
            slots_[find(key)] = least;
            sift_down(0);
        }
    }

    /// At least how often `key` was counted, and at most that plus (all counts)/counters.
    uint64_t estimate(const Key& key) const {
        const uint32_t found = slots_[find(key)];
        if (found != none) return counters_[found].count;
        return counters_.size() == most_ ? counters_[heap_[0]].count : 0;
    }

    /// The k keys with the highest counts, highest first, among equals the one that has its counter longest.
    std::vector<std::pair<Key, uint64_t>> items() const {
        std::vector<uint32_t> order = heap_;
        const size_t shown = std::min<uint64_t>(k_, order.size());
        const auto higher = [this](uint32_t a, uint32_t b) {
            const Counter &left = counters_[a], &right = counters_[b];
            return left.count != right.count ? left.count > right.count : left.inserted < right.inserted;
        };
        std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(), higher);
        std::vector<std::pair<Key, uint64_t>> found;
        for (size_t i = 0; i < shown; ++i) found.emplace_back(counters_[order[i]].key, counters_[order[i]].count);
        return found;
    }

    /// Forgets everything.
    void clear() {
        counters_.clear();
        heap_.clear();
        slots_.assign(16, none);
        inserted_ = 0;
    }

    size_t memory() const {
        return counters_.capacity() * sizeof(Counter) + (heap_.capacity() + slots_.capacity()) * sizeof(uint32_t);
    }

  private:
    struct Counter {
        Key key;
        uint64_t count;
        uint64_t inserted;
        uint32_t at;  ///< its place in the heap
    };
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    static void raise(Counter& counter, uint64_t n) {
        if (__builtin_add_overflow(counter.count, n, &counter.count))
            counter.count = std::numeric_limits<uint64_t>::max();
    }

    /// Where `key` stands in `slots_`, or the free slot where it would. Linear probing in a table at most half full.
    size_t find(const Key& key) const {
        size_t slot = hash_words(key, seed_) & (slots_.size() - 1);
        while (slots_[slot] != none && counters_[slots_[slot]].key != key) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    /// Frees a slot; those behind it that were pushed past it move up.
    void erase(size_t slot) {
        const size_t mask = slots_.size() - 1;
        for (size_t next = (slot + 1) & mask; slots_[next] != none; next = (next + 1) & mask) {
            const size_t home = hash_words(counters_[slots_[next]].key, seed_) & mask;
            if (((next - home) & mask) < ((next - slot) & mask)) continue;
            slots_[slot] = slots_[next];
            slot = next;
        }
        slots_[slot] = none;
    }

    void grow() {
        slots_.assign(slots_.size() * 2, none);
        for (uint32_t i = 0; i < counters_.size(); ++i) slots_[find(counters_[i].key)] = i;
    }

    bool less(uint32_t a, uint32_t b) const {
        const Counter &left = counters_[a], &right = counters_[b];
        return left.count != right.count ? left.count < right.count : left.inserted < right.inserted;
    }

    void put(size_t at, uint32_t counter) {
        heap_[at] = counter;
        counters_[counter].at = static_cast<uint32_t>(at);
    }

    void sift_up(size_t at) {
        const uint32_t moved = heap_[at];
        for (; at > 0 && less(moved, heap_[(at - 1) / 2]); at = (at - 1) / 2) put(at, heap_[(at - 1) / 2]);
        put(at, moved);
    }

    void sift_down(size_t at) {
        const uint32_t moved = heap_[at];
        for (size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && less(heap_[child + 1], heap_[child])) ++child;
            if (!less(heap_[child], moved)) break;
            put(at, heap_[child]);
            at = child;
        }
        put(at, moved);
    }

    uint64_t k_, most_, seed_;
    uint64_t inserted_ = 0;
    std::vector<Counter> counters_;
    std::vector<uint32_t> heap_;
    std::vector<uint32_t> slots_;
};

}  // namespace polysome
