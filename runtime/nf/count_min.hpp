/// `count_min<K>`: how often was each key counted, never too low (STATE.md, section 6).
///
/// Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch" (J. Algorithms 55, 2005),
/// section 3.
#pragma once

#include <algorithm>
#include <vector>

#include "nf/archive.hpp"
#include "nf/siphash.hpp"

namespace polysome {

/// `depth` rows of `width` 64-bit counters that saturate. Keys come as the SipHash of their canonical bytes. Every
/// operation but `clear` is O(depth).
class CountMin {
  public:
    CountMin(uint64_t width, uint64_t depth) : width_(width), counters_(width * depth) {}

    /// Asks for the key's counters ahead of `add` or `estimate`.
    void prefetch(uint64_t hash) const {
        const uint64_t step = place_step(hash);
        for (size_t row = 0; row < counters_.size(); row += width_, hash += step)
            __builtin_prefetch(&counters_[row + place(hash, width_)], 1);
    }

    /// Counts the key n times.
    void add(uint64_t hash, uint64_t n = 1) {
        const uint64_t step = place_step(hash);
        for (size_t row = 0; row < counters_.size(); row += width_, hash += step) {
            uint64_t& counter = counters_[row + place(hash, width_)];
            if (__builtin_add_overflow(counter, n, &counter)) counter = std::numeric_limits<uint64_t>::max();
        }
    }

    /// At least how often the key was counted.
    uint64_t estimate(uint64_t hash) const {
        uint64_t least = std::numeric_limits<uint64_t>::max();
        const uint64_t step = place_step(hash);
        for (size_t row = 0; row < counters_.size(); row += width_, hash += step)
            least = std::min(least, counters_[row + place(hash, width_)]);
        return least;
    }

    /// Forgets everything. O(width · depth).
    void clear() { std::fill(counters_.begin(), counters_.end(), 0); }

    size_t memory() const { return counters_.size() * sizeof(uint64_t); }

    /// To one of the same size.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(counters_.size());
        archive.raw(counters_.data(), memory());
    }

  private:
    uint64_t width_;
    std::vector<uint64_t> counters_;
};

}  // namespace polysome
