/// Which of many items has the least rank, if ranks only rise.
///
/// A tournament (Knuth, The Art of Computer Programming, volume 3, section 5.4.1): every node holds the winner of the
/// two below. When the winner of all rises, the matches on its way are played again: no branch depends on how they end,
/// and which nodes are read is known from the start, unlike in a heap.
#pragma once

#include <bit>
#include <vector>

#include "nf/archive.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Items are numbered from 0 as they come. Ranks differ, and are below 2^128 - 1.
class MinTree {
  public:
    MinTree() { clear(); }

    /// The item of the least rank, if there is any. O(1).
    uint32_t least() const { return winners_[1]; }
    u128 rank(uint32_t item) const { return ranks_[item]; }
    uint32_t size() const { return size_; }

    /// One more item. O(log n), O(n) when the tree grows.
    void push(u128 rank) {
        if (size_ == ranks_.size()) grow();
        const uint32_t item = size_++;
        ranks_[item] = rank;
        for (size_t node = (ranks_.size() + item) / 2; node > 0 && rank <= ranks_[winners_[node]]; node /= 2)
            winners_[node] = item;
    }

    /// The rank of `item` is now `rank`, which is no lower than before. O(log n), and O(1) if it was not near the
    /// least.
    void raise(uint32_t item, u128 rank) {
        ranks_[item] = rank;
        uint32_t winner = item;
        for (size_t node = ranks_.size() + item; node > 1; node /= 2) {
            if (winners_[node / 2] != item) return;
            const uint32_t other = winners_[node ^ 1];
            const u128 other_rank = ranks_[other];
            const auto lower = static_cast<uint64_t>(-static_cast<int64_t>(other_rank < rank));  // all ones if so
            winner ^= (winner ^ other) & static_cast<uint32_t>(lower);
            rank ^= (rank ^ other_rank) & (static_cast<u128>(lower) << 64 | lower);  // `?:` becomes a branch
            winners_[node / 2] = winner;
        }
    }

    /// No items.
    void clear() {
        size_ = 0;
        ranks_.assign(8, ~u128{0});
        build();
    }

    size_t memory() const { return ranks_.capacity() * sizeof(u128) + winners_.capacity() * sizeof(uint32_t); }

    template <class Archive>
    void carry(Archive& archive) {
        archive(size_, ranks_, winners_);
    }

  private:
    void grow() {
        ranks_.resize(ranks_.size() * 2, ~u128{0});
        build();
    }

    void build() {
        winners_.resize(ranks_.size() * 2);
        for (uint32_t item = 0; item < ranks_.size(); ++item) winners_[ranks_.size() + item] = item;
        for (size_t node = ranks_.size() - 1; node > 0; --node) {
            const uint32_t left = winners_[2 * node], right = winners_[2 * node + 1];
            winners_[node] = ranks_[right] < ranks_[left] ? right : left;
        }
    }

    uint32_t size_ = 0;
    std::vector<u128> ranks_;        ///< a power of two; of those that are not there, the highest
    std::vector<uint32_t> winners_;  ///< of node i, above nodes 2 · i and 2 · i + 1; the last half are the items
};

}  // namespace polysome
