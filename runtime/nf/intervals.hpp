/// Numbers cut into intervals, each with a value: the search below tables of prefixes and ranges.
///
/// Prefixes and ranges cut a component's numbers into intervals with one answer each (Lampson, Srinivasan, Varghese,
/// "IP lookups using multiway and multicolumn search", INFOCOM'98). The search is one step through an array of equal
/// cells, as in Gupta, Lin, McKeown, "Routing lookups in hardware at memory access speeds" (INFOCOM'98), then one
/// comparison with a cache line of beginnings; no branch depends on where the number lies, unless beginnings are very
/// crowded.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "nf/types.hpp"

namespace polysome {

/// How many of the first 64 bytes of ascending keys are not above `key`.
inline uint32_t count_not_above(const uint32_t* keys, uint32_t key) {
#ifdef __AVX512F__
    const auto bound = _mm512_set1_epi32(static_cast<int>(key));
    return static_cast<uint32_t>(std::popcount(_mm512_cmple_epu32_mask(_mm512_loadu_si512(keys), bound)));
#else
    uint32_t count = 0;
    for (size_t i = 0; i < 16; ++i) count += keys[i] <= key;
    return count;
#endif
}

inline uint32_t count_not_above(const uint64_t* keys, uint64_t key) {
#ifdef __AVX512F__
    const auto bound = _mm512_set1_epi64(static_cast<long long>(key));
    return static_cast<uint32_t>(std::popcount(_mm512_cmple_epu64_mask(_mm512_loadu_si512(keys), bound)));
#else
    uint32_t count = 0;
    for (size_t i = 0; i < 8; ++i) count += keys[i] <= key;
    return count;
#endif
}

/// Intervals of numbers of 32 or 64 bits. Memory is O(n), a search reads a cell, one or two lines of beginnings and a
/// value; where beginnings are crowded, more cells.
template <class Key>
class Intervals {
  public:
    /// A beginning, and the value from there to the next one.
    using Begin = std::pair<Key, uint32_t>;

    Intervals() { build({{0, 0}}); }

    /// `begins` ascend strictly, at most 2^28 of them, and begin with 0. About O(n).
    void build(std::vector<Begin> begins) {
        const auto same = [](const Begin& a, const Begin& b) { return a.second == b.second; };
        begins.erase(std::unique(begins.begin(), begins.end(), same), begins.end());
        begins_.clear();
        values_.clear();
        for (const auto& [key, value] : begins) begins_.push_back(key), values_.push_back(value);
        // A comparison takes `lanes` more than there are; they may count, and then mean the last interval, too.
        begins_.resize(begins.size() + lanes, ~Key{0});
        values_.resize(begins.size() + lanes, values_.back());
        cells_.clear();
        nodes_.clear();
        root_ = make_node(0, static_cast<uint32_t>(begins.size()));
    }

    /// The value of the interval that `key` is in.
    uint32_t find(Key key) const {
        uint32_t cell = root_.cell(cells_.data(), key);
        while ((cell & inner) != 0) [[unlikely]]
            cell = nodes_[cell & ~inner].cell(cells_.data(), key);
        __builtin_prefetch(&values_[cell]);
        return values_[cell + count_not_above(&begins_[cell + 1], key)];
    }

    size_t memory() const {
        return begins_.capacity() * sizeof(Key) + nodes_.capacity() * sizeof(Node) +
               (cells_.capacity() + values_.capacity()) * sizeof(uint32_t);
    }

  private:
    static constexpr uint32_t inner = uint32_t{1} << 31;  ///< marks the number of a node, not of an interval
    static constexpr uint32_t lanes = 64 / sizeof(Key);   ///< beginnings that one comparison takes

    /// Cells of 2^shift numbers, from the one before the first beginning to the last beginning; numbers beyond belong
    /// to the cells at the ends. A cell says which interval its first number is in, or that another node goes on.
    struct Node {
        Key low, high;
        uint64_t cells;  ///< of number 0, as it were
        unsigned shift;

        uint32_t cell(const uint32_t* all, Key key) const {
            return all[cells + (std::min(std::max(key, low), high) >> shift)];
        }
    };

    /// A node for what is between the beginnings `first` and `last`, both excluded.
    Node make_node(uint32_t first, uint32_t last) {
        const Key low = last - first > 1 ? begins_[first + 1] - 1 : 0, high = last - first > 1 ? begins_[last - 1] : 0;
        const unsigned shift = good_shift(first, last, low, high);
        const uint64_t start = cells_.size(), skipped = low >> shift;
        const uint64_t count = (high >> shift) - skipped + 1;
        cells_.resize(start + count);
        uint32_t at = first;
        for (uint64_t i = 0; i < count; ++i) {
            const Key begin = static_cast<Key>(skipped + i) << shift;
            while (at + 1 < last && begins_[at + 1] <= begin) ++at;
            uint32_t end = at + 1;  // the first beginning behind the cell
            while (end < last && begins_[end] >> shift == begin >> shift) ++end;
            cells_[start + i] = at;
            if (end - at - 1 <= lanes) continue;
            const Node node = make_node(at, end);
            cells_[start + i] = inner | static_cast<uint32_t>(nodes_.size());
            nodes_.push_back(node);
        }
        return {low, high, start - skipped, shift};
    }

    /// The coarsest cells of which none has more beginnings than a comparison takes; if they would be too many, the
    /// finest that are not.
    unsigned good_shift(uint32_t first, uint32_t last, Key low, Key high) const {
        const uint32_t count = last - first - 1;
        unsigned shift = std::bit_width(static_cast<Key>(low ^ high));
        if (shift == 8 * sizeof(Key)) --shift;
        const auto cells = [&](unsigned s) { return uint64_t{high >> s} - uint64_t{low >> s} + 1; };
        while (shift > 0 && cells(shift) < count / (lanes + 1)) --shift;
        while (shift > 0 && cells(shift - 1) <= 8 * uint64_t{count} && most_in_a_cell(first, last, shift) > lanes)
            --shift;
        return shift;
    }

    uint32_t most_in_a_cell(uint32_t first, uint32_t last, unsigned shift) const {
        uint32_t most = 0, here = 0;
        for (uint32_t i = first + 1; i < last; ++i) {
            const bool starts = (begins_[i] >> shift << shift) == begins_[i];
            here = (begins_[i] >> shift == begins_[i - 1] >> shift && i > first + 1 ? here : 0) + !starts;
            most = std::max(most, here);
        }
        return most;
    }

    std::vector<Key> begins_;
    std::vector<uint32_t> values_;
    std::vector<uint32_t> cells_;
    Node root_;
    std::vector<Node> nodes_;  ///< all others
};

/// Intervals of numbers of 128 bits: by their upper halves, and for those that are cut themselves by their lower ones.
/// Of IPv6 prefixes few are longer than 64 bits; IPv4-mapped addresses and small numbers have all one upper half.
template <>
class Intervals<u128> {
  public:
    using Begin = std::pair<u128, uint32_t>;

    Intervals() { build({{0, 0}}); }

    /// As above; values are below 2^31.
    void build(const std::vector<Begin>& begins) {
        std::vector<Intervals<uint64_t>::Begin> highs, lows;
        size_t most = 0, common = 0;
        lows_.clear();
        common_ = 0;
        uint32_t before = 0;  // the value that goes on into an upper half
        for (size_t i = 0; i < begins.size();) {
            const auto half = static_cast<uint64_t>(begins[i].first >> 64);
            lows.clear();
            if (static_cast<uint64_t>(begins[i].first) != 0) lows.emplace_back(0, before);
            for (; i < begins.size() && static_cast<uint64_t>(begins[i].first >> 64) == half; ++i)
                lows.emplace_back(static_cast<uint64_t>(begins[i].first), begins[i].second);
            before = lows.back().second;
            if (lows.size() == 1) {
                highs.emplace_back(half, before);
                continue;
            }
            if (lows.size() > most) most = lows.size(), common_ = half, common = lows_.size();
            highs.emplace_back(half, inner | static_cast<uint32_t>(lows_.size()));
            lows_.emplace_back().build(lows);
            const bool next = i < begins.size() && begins[i].first >> 64 == u128{half} + 1;
            if (half != ~uint64_t{0} && !next) highs.emplace_back(half + 1, before);
        }
        if (most == 0) lows_.emplace_back().build({{0, begins[0].second}});
        common_lows_ = std::move(lows_[common]);  // nobody asks for it there
        highs_.build(std::move(highs));
    }

    [[gnu::always_inline]] uint32_t find(u128 key) const {
        const auto high = static_cast<uint64_t>(key >> 64), low = static_cast<uint64_t>(key);
        if (high == common_) return common_lows_.find(low);
        return find_elsewhere(high, low);
    }

    size_t memory() const {
        size_t sum = highs_.memory() + common_lows_.memory() + lows_.capacity() * sizeof(lows_[0]);
        for (const auto& lows : lows_) sum += lows.memory();
        return sum;
    }

  private:
    static constexpr uint32_t inner = uint32_t{1} << 31;  ///< marks the number of a search in lower halves

    [[gnu::noinline]] uint32_t find_elsewhere(uint64_t high, uint64_t low) const {
        const uint32_t found = highs_.find(high);
        return (found & inner) == 0 ? found : lows_[found & ~inner].find(low);
    }

    Intervals<uint64_t> highs_, common_lows_;
    uint64_t common_ = 0;  ///< the upper half that is cut most often
    std::vector<Intervals<uint64_t>> lows_;
};

}  // namespace polysome
