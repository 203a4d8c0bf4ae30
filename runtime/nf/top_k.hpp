/// `top_k<K>`: the keys counted most often (STATE.md, section 9).
///
/// Space-Saving: Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams"
/// (ICDT'05), section 3.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "nf/archive.hpp"
#include "nf/flow_map/key.hpp"
#include "nf/flow_map/table.hpp"
#include "nf/min_tree.hpp"
#include "nf/types.hpp"

namespace polysome {

/// `counters` counters (1 to 2^31), each for one key, of which the `k` highest are shown. Key is an array of words. A
/// key's counter is found by a hash table, the least counter by a tournament: `add` is O(log counters), and O(1) for a
/// key with a counter that is not near the least; `estimate` is O(1), `items` O(counters · log k).
template <class Key>
class TopK {
  public:
    using Sought = polysome::Sought<Key>;

    TopK(uint64_t k, uint64_t counters, uint64_t seed = 0) : k_(k), most_(counters), seed_(seed), table_(counters) {}

    /// What the other functions take for a key.
    Sought sought(const Key& key) const { return {key, hash_words(key, seed_), 0}; }
    /// Fetches what they read first.
    void prefetch(const Sought& key) const { table_.prefetch(key.hash); }

    /// Counts `key` n times; if it has no counter and none is left, it inherits the least one.
    void add(const Sought& key, uint64_t n = 1) {
        if (n == 0) return;
        if (const uint32_t found = find(key); found != EntryTable::none) {
            const Rank rank = this->rank(found);
            ranks_.raise(found, number({sum(rank.count, n), rank.inserted}));
        } else if (counters_.size() < most_) {
            table_.insert(key.hash, ranks_.size());
            counters_.push_back({key.words, key.hash});
            ranks_.push(number({n, inserted_++}));
        } else {
            const uint32_t least = ranks_.least();
            Counter& counter = counters_[least];
            table_.erase(counter.hash, least);
            table_.insert(key.hash, least);
            counter = {key.words, key.hash};
            ranks_.raise(least, number({sum(rank(least).count, n), inserted_++}));
            table_.prefetch(counters_[ranks_.least()].hash);  // it most likely goes next
        }
    }

    /// At least how often `key` was counted, and at most that plus (all counts)/counters.
    uint64_t estimate(const Sought& key) const {
        const uint32_t found = find(key);
        if (found != EntryTable::none) return rank(found).count;
        return counters_.size() == most_ ? rank(ranks_.least()).count : 0;
    }

    /// The k keys with the highest counts, highest first, among equals the one that has its counter longest.
    std::vector<std::pair<Key, uint64_t>> items() const {
        std::vector<uint32_t> order(counters_.size());
        std::iota(order.begin(), order.end(), uint32_t{0});
        const size_t shown = std::min<uint64_t>(k_, order.size());
        const auto higher = [this](uint32_t a, uint32_t b) {
            const Rank left = rank(a), right = rank(b);
            return left.count != right.count ? left.count > right.count : left.inserted < right.inserted;
        };
        std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(), higher);
        std::vector<std::pair<Key, uint64_t>> found;
        for (size_t i = 0; i < shown; ++i) found.emplace_back(counters_[order[i]].key, rank(order[i]).count);
        return found;
    }

    /// Forgets everything. O(counters).
    void clear() {
        for (uint32_t i = 0; i < counters_.size(); ++i) table_.erase(counters_[i].hash, i);
        counters_.clear();
        ranks_.clear();
        inserted_ = 0;
    }

    size_t memory() const { return counters_.capacity() * sizeof(Counter) + ranks_.memory() + table_.bytes(); }

    /// To an empty one with as many counters.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(most_);
        archive(inserted_, counters_, ranks_);
        if constexpr (!Archive::loading) return;
        for (uint32_t i = 0; i < counters_.size(); ++i) {
            counters_[i].hash = hash_words(counters_[i].key, seed_);
            table_.insert(counters_[i].hash, i);
        }
    }

  private:
    struct Counter {
        Key key;
        uint64_t hash;

        template <class Archive>
        void carry(Archive& archive) {
            archive(key);
        }
    };

    /// The least goes first: the lowest count, among equals the one whose key took its counter first.
    struct Rank {
        uint64_t count, inserted;
    };
    static u128 number(Rank rank) { return static_cast<u128>(rank.count) << 64 | rank.inserted; }
    Rank rank(uint32_t counter) const {
        const u128 number = ranks_.rank(counter);
        return {static_cast<uint64_t>(number >> 64), static_cast<uint64_t>(number)};
    }

    static uint64_t sum(uint64_t count, uint64_t n) {
        return __builtin_add_overflow(count, n, &count) ? std::numeric_limits<uint64_t>::max() : count;
    }

    uint32_t find(const Sought& key) const {
        return table_.find(key.hash, [&](uint32_t counter) { return same_words(counters_[counter].key, key.words); });
    }

    uint64_t k_, most_, seed_;
    uint64_t inserted_ = 0;
    std::vector<Counter> counters_;
    EntryTable table_;  ///< counters by their keys
    MinTree ranks_;     ///< of the counters
};

}  // namespace polysome
