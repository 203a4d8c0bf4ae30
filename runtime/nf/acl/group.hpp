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
        uint32_t occupied = 0;  // bit i: word i has a row
        uint64_t first = 0;     // the first of these words
        for (size_t b = Blocks; b-- > 0;) {
            RowBlock both = vectors[0][b];
            for (size_t c = 1; c < Components; ++c) both &= vectors[c][b];
            const Occupied here = occupied_words(both);
            occupied = occupied << 8 | here.words;
            first = here.words != 0 ? here.first : first;
        }
        if (occupied == 0) return none;
        return static_cast<uint32_t>(std::countr_zero(occupied) * 64 + std::countr_zero(first));
    }

    /// `words`: bit i: word i is not 0; `first` is the first of these, if any.
    struct Occupied {
        uint32_t words;
        uint64_t first;
    };
    [[gnu::always_inline]] static Occupied occupied_words(const RowBlock& block) {
#ifdef __AVX512F__
        // In registers: memory that was written as a whole is not read in part at once.
        const auto& all = reinterpret_cast<const __m512i&>(block);
        const __mmask8 words = _mm512_test_epi64_mask(all, all);
        const __m512i some = _mm512_maskz_compress_epi64(words, all);
        return {words, static_cast<uint64_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(some)))};
#else
        uint32_t words = 0;
        uint64_t first = 0;
        for (uint32_t w = 8; w-- > 0;) {
            words |= static_cast<uint32_t>(block[w] != 0) << w;
            first = block[w] != 0 ? block[w] : first;
        }
        return {words, first};
#endif
    }

    size_t blocks_;
    std::vector<ComponentSearch> searches_;  ///< of the components; what they find is a place in `vectors_`
    std::vector<RowBlock> vectors_;          ///< `blocks_` each
};

}  // namespace polysome
