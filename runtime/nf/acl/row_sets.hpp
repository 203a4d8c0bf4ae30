/// Sets of rows as bit vectors, each kept once.
#pragma once

#include <bit>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// 512 rows: bit i % 64 of word i / 64 is row i. A cache line, and a register where there are such.
using RowBlock [[gnu::vector_size(64)]] = uint64_t;

/// A list of different sets of the same rows, each of `blocks` blocks.
class RowSets {
  public:
    explicit RowSets(size_t blocks) : blocks_(blocks) {}

    /// The number of a set; the same for equal ones. O(blocks).
    uint32_t number(const std::vector<RowBlock>& set) {
        uint64_t hash = 0;
        for (const RowBlock& block : set) hash = hash_words(std::bit_cast<std::array<uint64_t, 8>>(block), hash);
        const auto [first, last] = numbers_.equal_range(hash);
        for (auto at = first; at != last; ++at)
            if (std::memcmp((*this)[at->second], set.data(), blocks_ * sizeof(RowBlock)) == 0) return at->second;
        const auto number = static_cast<uint32_t>(size());
        all_.insert(all_.end(), set.begin(), set.end());
        numbers_.emplace(hash, number);
        return number;
    }

    const RowBlock* operator[](size_t number) const { return &all_[number * blocks_]; }
    size_t size() const { return all_.size() / blocks_; }

    /// The sets one behind the other; this is then empty.
    std::vector<RowBlock> take() { return std::move(all_); }

  private:
    size_t blocks_;
    std::vector<RowBlock> all_;
    std::unordered_multimap<uint64_t, uint32_t> numbers_;  ///< by hash
};

}  // namespace polysome
