/// One component of the keys of an ACL: which class of numbers is a number in?
///
/// Numbers that the same rows match are of one class (the equivalence classes of Gupta and McKeown, "Packet
/// classification on multiple fields", SIGCOMM'99); a class stands for a set of rows.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "nf/acl/matcher.hpp"
#include "nf/acl/row_sets.hpp"
#include "nf/intervals.hpp"

namespace polysome {

/// The classes of a component in some rows, while a table is built. Prefixes match numbers of their own family's width
/// only, so a number is looked up by its width; classes are the same for all widths.
class ComponentClasses {
  public:
    using Begins = std::vector<Intervals<u128>::Begin>;  ///< with classes

    /// `matchers`: each row's.
    explicit ComponentClasses(std::span<const Matcher* const> matchers) : sets((matchers.size() + 511) / 512) {
        const auto has = [&](unsigned bits) {
            return std::any_of(matchers.begin(), matchers.end(), [&](const Matcher* matcher) {
                return matcher->kind == Matcher::Kind::prefix && matcher->prefix.bits == bits;
            });
        };
        other = begins(matchers, 0);
        if (has(32)) four = begins(matchers, 32);
        if (has(128)) six = begins(matchers, 128);
    }

    RowSets sets;             ///< of each class
    Begins other, four, six;  ///< of classes; `four` and `six` are empty if no prefix is of this family

  private:
    /// Goes through the numbers in order, with the set of rows that match them.
    Begins begins(std::span<const Matcher* const> matchers, unsigned width) {
        std::vector<RowBlock> here((matchers.size() + 511) / 512);
        std::vector<std::pair<u128, uint32_t>> changes = {};  // where a row starts or ceases to match
        const auto change = [&here](size_t row) { here[row / 512][row / 64 % 8] ^= uint64_t{1} << row % 64; };
        for (uint32_t row = 0; row < matchers.size(); ++row) {
            const Matcher range = matchers[row]->as_range(width);
            if (range.low > range.high) continue;
            changes.emplace_back(range.low, row);
            if (~range.high != 0) changes.emplace_back(range.high + 1, row);
        }
        std::sort(changes.begin(), changes.end());
        Begins found;
        size_t at = 0;
        for (u128 begin = 0;; begin = changes[at].first) {
            for (; at < changes.size() && changes[at].first == begin; ++at) change(changes[at].second);
            const uint32_t number = sets.number(here);
            if (found.empty() || found.back().second != number) found.emplace_back(begin, number);
            if (at == changes.size()) return found;
        }
    }
};

/// Finds the class of a number: `first` + its number · `stride`.
class ComponentSearch {
  public:
    ComponentSearch(const ComponentClasses& classes, uint32_t first, uint32_t stride) {
        const auto scaled = [=](ComponentClasses::Begins begins) {
            for (auto& begin : begins) begin.second = first + begin.second * stride;
            return begins;
        };
        const auto other = scaled(classes.other);
        searches_[0].build(other);
        if (!classes.four.empty()) search_[four] = four, searches_[four].build(scaled(classes.four));
        if (!classes.six.empty()) search_[six] = six, searches_[six].build(scaled(classes.six));
        if (search_[four] + search_[six] > 0 || other.back().first > most_direct) return;
        for (size_t i = 0; i < other.size(); ++i)
            direct_.resize(static_cast<size_t>(i + 1 < other.size() ? other[i + 1].first : other[i].first + 1),
                           other[i].second);
    }

    [[gnu::always_inline]] uint32_t find(u128 number, uint8_t width) const {
        if (!direct_.empty()) return direct_[static_cast<size_t>(std::min<u128>(number, direct_.size() - 1))];
        return searches_[search_[width == 128 ? six : width == 32 ? four : 0]].find(number);
    }

    size_t memory() const {
        size_t sum = direct_.capacity() * sizeof(uint32_t);
        for (const auto& search : searches_) sum += search.memory();
        return sum;
    }

  private:
    static constexpr u128 most_direct = 16384;
    static constexpr uint8_t four = 1, six = 2;

    std::vector<uint32_t> direct_;     ///< of small numbers, if what is above the last of them is all alike; else empty
    std::array<uint8_t, 3> search_{};  ///< for numbers of neither family, of 32 and of 128 bits
    std::array<Intervals<u128>, 3> searches_;
};

}  // namespace polysome
