/// `hyperloglog<K>`: how many different keys were added? (STATE.md, section 8)
///
/// Registers: Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog" (AofA'07), figure 3, with a 64-bit hash. Estimate: the
/// improved raw estimator of Ertl, "New cardinality estimation methods for HyperLogLog sketches" (arXiv:1706.07290), in
/// fixed point and without its tau term.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "nf/archive.hpp"
#include "nf/types.hpp"

namespace polysome {

/// 2^bits registers, bits in 4..18. Keys come as the SipHash of their canonical bytes. `add` and `estimate` are O(1):
/// how many registers have each rank is kept up to date.
class HyperLogLog {
  public:
    explicit HyperLogLog(unsigned bits) : bits_(bits), registers_(size_t{1} << bits) { ranks_[0] = registers_.size(); }

    /// One more key, unless it was added before.
    void add(uint64_t hash) {
        const uint64_t rest = hash << bits_;
        const auto rank = static_cast<uint8_t>(rest == 0 ? 65 - bits_ : std::countl_zero(rest) + 1);
        uint8_t& there = registers_[hash >> (64 - bits_)];
        if (rank <= there) return;
        --ranks_[there];
        ++ranks_[rank];
        there = rank;
    }

    /// About how many different keys were added: exactly the integer that S8.3 defines.
    uint64_t estimate() const {
        if (ranks_[0] == registers_.size()) return 0;
        u128 total = sigma(static_cast<u128>(ranks_[0]) << (63 - bits_)) << bits_;
        for (unsigned rank = 1; rank <= 65 - bits_; ++rank) total += static_cast<u128>(ranks_[rank]) << (63 - rank);
        const u128 found = ((static_cast<u128>(3098164009) << (2 * bits_ + 31)) + total / 2) / total;
        return static_cast<uint64_t>(std::min<u128>(found, std::numeric_limits<uint64_t>::max()));
    }

    /// Forgets everything. O(registers).
    void clear() {
        std::fill(registers_.begin(), registers_.end(), 0);
        ranks_ = {};
        ranks_[0] = registers_.size();
    }

    size_t memory() const { return registers_.size(); }

    /// To one of the same size.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(bits_);
        archive.raw(registers_.data(), registers_.size());
        archive(ranks_);
    }

  private:
    /// x + sum over k ≥ 1 of x^(2^k) · 2^(k-1), for 0 ≤ x < 1 in units of 2^-63, each square rounded down.
    static u128 sigma(u128 x) {
        u128 result = x;
        for (unsigned k = 0; x > 0; ++k) {
            x = x * x >> 63;
            result += x << k;
        }
        return result;
    }

    unsigned bits_;
    std::vector<uint8_t> registers_;
    std::array<uint64_t, 62> ranks_{};
};

}  // namespace polysome
