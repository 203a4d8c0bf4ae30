/// Rows of an ACL that are searched together.
///
/// Each component's number is of a class, which has a bit vector of rows that match; the first row in the vectors of
/// all components is the answer (Lakshman and Stiliadis, "High-speed policy-based packet forwarding using efficient
/// multi-dimensional range matching", SIGCOMM'98, section 4).
#pragma once

#include <bit>
#include <vector>

#include "nf/acl/component.hpp"

namespace polysome {

/// At most 2048 rows. A lookup is a search per component, and then O(components · rows / 512); nothing in it branches
/// on numbers or rows.
class AclGroup {
  public:
    static constexpr size_t most = 2048;  ///< rows: bounds memory, which is quadratic in them
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    /// `matchers[component][row]`; at least one of each.
    explicit AclGroup(const std::vector<std::vector<const Matcher*>>& matchers)
        : blocks_((matchers[0].size() + 511) / 512) {
        for (const auto& component : matchers) {
            ComponentClasses classes(component);
            searches_.emplace_back(classes, static_cast<uint32_t>(vectors_.size()), static_cast<uint32_t>(blocks_));
            const auto sets = classes.sets.take();
            vectors_.insert(vectors_.end(), sets.begin(), sets.end());
        }
    }

    /// The first row that matches; `none` if none does.
    template <size_t Components>
    uint32_t first_match(const u128 (&key)[Components], const uint8_t (&widths)[Components]) const {
        std::array<const RowBlock*, Components> vectors;  // all addresses before the first is read
        for (size_t c = 0; c < Components; ++c) vectors[c] = &vectors_[searches_[c].find(key[c], widths[c])];
        switch (blocks_) {
            case 1:
                return first_of<1>(vectors);
            case 2:
                return first_of<2>(vectors);
            case 3:
                return first_of<3>(vectors);
            default:
                return first_of<4>(vectors);
        }
    }

    size_t memory() const {
        size_t sum = vectors_.capacity() * sizeof(RowBlock);
        for (const auto& search : searches_) sum += search.memory();
        return sum;
    }

  private:
    /// The first row that all vectors have.
    template <size_t Blocks, size_t Components>
    [[gnu::always_inline]] static uint32_t first_of(const std::array<const RowBlock*, Components>& vectors) {
        std::array<RowBlock, Blocks> rows;
        uint32_t occupied = 0;  // bit i: word i has a row
        for (size_t b = 0; b < Blocks; ++b) {
            RowBlock both = vectors[0][b];
            for (size_t c = 1; c < Components; ++c) both &= vectors[c][b];
            occupied |= occupied_words(both) << 8 * b;
            rows[b] = both;
        }
        if (occupied == 0) return none;
        const auto word = static_cast<uint32_t>(std::countr_zero(occupied));
        return word * 64 + static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(rows[word / 8][word % 8])));
    }

    /// Bit i: word i is not 0.
    [[gnu::always_inline]] static uint32_t occupied_words(const RowBlock& block) {
#ifdef __AVX512F__
        return _mm512_test_epi64_mask(reinterpret_cast<const __m512i&>(block), reinterpret_cast<const __m512i&>(block));
#else
        uint32_t occupied = 0;
        for (uint32_t w = 0; w < 8; ++w) occupied |= static_cast<uint32_t>(block[w] != 0) << w;
        return occupied;
#endif
    }

    size_t blocks_;
    std::vector<ComponentSearch> searches_;  ///< of the components; what they find is a place in `vectors_`
    std::vector<RowBlock> vectors_;          ///< `blocks_` each
};

}  // namespace polysome
