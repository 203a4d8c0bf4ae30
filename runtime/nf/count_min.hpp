/// `count_min<K>`: how often was each key counted, never too low (STATE.md, section 6).
///
/// Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch" (J. Algorithms 55, 2005),
/// section 3.
#pragma once

#include <algorithm>

#include "nf/archive.hpp"
#include "nf/memory.hpp"
#include "nf/siphash.hpp"

namespace polysome {

/// `depth` rows of `width` 64-bit counters that saturate. Keys come as the SipHash of their canonical bytes. Every
/// operation but `clear` is O(depth).
class CountMin {
  public:
    CountMin(uint64_t width, uint64_t depth) : width_(width), depth_(depth), counters_(width * depth) {}

    /// Asks for the key's counters ahead of `add` or `estimate`.
    void prefetch(uint64_t hash) const {
        if (memory() <= always_near) return;
        each(*this, hash, [](const uint64_t& counter) { __builtin_prefetch(&counter, 1); });
    }

    /// Counts the key n times.
    void add(uint64_t hash, uint64_t n = 1) {
        each(*this, hash, [n](uint64_t& counter) {
            uint64_t sum;
            counter = __builtin_add_overflow(counter, n, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
        });
    }

    /// At least how often the key was counted.
    uint64_t estimate(uint64_t hash) const {
        uint64_t least = std::numeric_limits<uint64_t>::max();
        each(*this, hash, [&](const uint64_t& counter) { least = std::min(least, counter); });
        return least;
    }

    /// Forgets everything. O(width · depth).
    void clear() { std::fill_n(counters_.data(), counters_.size(), 0); }

    size_t memory() const { return counters_.bytes(); }

    /// To one of the same size.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(counters_.size());
        archive.raw(counters_.data(), memory());
    }

  private:
    /// Calls `use` with the counter that the hash means in each row.
    template <class Self, class Use>
    [[gnu::always_inline]] static void each(Self& self, uint64_t hash, Use use) {
        auto* const counters = self.counters_.data();
        const uint64_t width = self.width_;
        each_place(hash, self.depth_, width, [&](uint64_t row, uint64_t column) __attribute__((always_inline)) {
            use(counters[row * width + column]);
        });
    }

    uint64_t width_, depth_;
    MappedArray<uint64_t> counters_;
};

}  // namespace polysome
