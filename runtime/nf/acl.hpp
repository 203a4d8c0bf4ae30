/// `config acl<K, V>`: the first row that matches all components of a key (STATE.md, section 11).
///
/// Each component's numbers fall into intervals in which the same rows match; an interval has a bit vector of them.
/// The first row that is in the vectors of all components is the answer. Lakshman and Stiliadis, "High-speed
/// policy-based packet forwarding using efficient multi-dimensional range matching" (SIGCOMM'98), section 4.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "nf/lpm.hpp"
#include "nf/reader.hpp"
#include "nf/types.hpp"

namespace polysome {

/// What a row asks of a component of the key.
struct Matcher {
    enum class Kind : uint8_t { any, exact, range, prefix } kind = Kind::any;
    u128 low = 0, high = 0;  ///< range: both belong to it, empty if low > high; exact: `low`
    Prefix prefix;

    bool matches(u128 component, unsigned width) const {
        switch (kind) {
            case Kind::exact:
                return component == low;
            case Kind::range:
                return low <= component && component <= high;
            case Kind::prefix:
                return prefix.contains(component, width);
            default:
                return true;
        }
    }
};

/// One matcher per component of the key. Rows of higher priority come first.
template <class V>
struct AclRow {
    std::vector<Matcher> matchers;
    int64_t priority = 0;
    V value{};
};

inline void read(Reader& reader, Matcher& matcher) {
    matcher = {};
    const auto kind = reader.next<uint8_t>();
    matcher.kind = static_cast<Matcher::Kind>(kind);
    if (kind == 1 || kind == 2) reader.get(matcher.low);
    if (kind == 2) reader.get(matcher.high);
    if (kind == 3) reader.get(matcher.prefix);
    if (kind > 3) reader.fail();
    if (!reader.ok()) matcher = {};
}

/// Rows whose key has `components` components.
template <class V>
void read_rows(Reader& reader, size_t components, std::vector<AclRow<V>>& rows) {
    rows.clear();
    const auto count = reader.next<uint32_t>();
    for (uint32_t i = 0; i < count && reader.ok(); ++i) {
        AclRow<V> row;
        for (size_t c = 0; c < components; ++c) row.matchers.push_back(reader.next<Matcher>());
        reader.get(row.priority);
        reader.get(row.value);
        rows.push_back(std::move(row));
    }
    if (!reader.ok()) rows.clear();
}

/// Rows by falling priority, then in file order. A lookup is O(components · rows / 64) in the worst case, in words; of
/// a table of some thousand rows it mostly reads a few. Memory is at most about 512 bytes · rows · components.
template <class V>
class Acl {
  public:
    /// The rows from now on; all have the same number of matchers, at least one.
    void replace(std::vector<AclRow<V>> rows) {
        std::stable_sort(rows.begin(), rows.end(),
                         [](const auto& a, const auto& b) { return a.priority > b.priority; });
        groups_.clear();
        values_.clear();
        for (size_t first = 0; first < rows.size(); first += most) {
            const size_t count = std::min(most, rows.size() - first);
            groups_.emplace_back();
            for (size_t c = 0; c < rows[first].matchers.size(); ++c)
                groups_.back().emplace_back(std::span(rows).subspan(first, count), c);
        }
        for (auto& row : rows) values_.push_back(std::move(row.value));
    }

    /// The value of the first row that matches, until the next `replace`; null if none does. `widths`: each
    /// component's bits.
    const V* get(std::span<const u128> key, std::span<const uint8_t> widths) const {
        for (size_t g = 0; g < groups_.size(); ++g) {
            const uint32_t row = first_match(groups_[g], key, widths);
            if (row != none) return &values_[g * most + row];
        }
        return nullptr;
    }

    size_t size() const { return values_.size(); }
    size_t memory() const {
        size_t sum = values_.capacity() * sizeof(V);
        for (const auto& group : groups_)
            for (const auto& component : group) sum += component.memory();
        return sum;
    }

  private:
    static constexpr size_t most = 2048;  ///< rows that share bit vectors: bounds memory, which is quadratic in them
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    /// Which rows match each number, for one width of the numbers.
    class Vectors {
      public:
        Vectors() = default;
        Vectors(std::span<const AclRow<V>> rows, size_t component, unsigned width) : words_((rows.size() + 63) / 64) {
            std::vector<Matcher> ranges(rows.size());  // `any` stays so
            std::vector<u128> begins = {0};
            for (size_t i = 0; i < rows.size(); ++i) {
                ranges[i] = as_range(rows[i].matchers[component], width);
                if (ranges[i].kind == Matcher::Kind::any || ranges[i].low > ranges[i].high) continue;
                begins.push_back(ranges[i].low);
                if (~ranges[i].high != 0) begins.push_back(ranges[i].high + 1);
            }
            std::sort(begins.begin(), begins.end());
            begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
            bits_.resize(begins.size() * words_);
            for (size_t i = 0; i < rows.size(); ++i) {
                const bool any = ranges[i].kind == Matcher::Kind::any;
                auto at = any ? begins.begin() : std::lower_bound(begins.begin(), begins.end(), ranges[i].low);
                for (; at != begins.end() && (any || *at <= ranges[i].high); ++at)
                    bits_[static_cast<size_t>(at - begins.begin()) * words_ + i / 64] |= uint64_t{1} << i % 64;
            }
            search_.build(std::move(begins));
        }

        const uint64_t* of(u128 component) const { return &bits_[search_.find(component) * words_]; }
        size_t memory() const { return bits_.capacity() * sizeof(uint64_t) + search_.memory(); }

      private:
        static Matcher as_range(const Matcher& matcher, unsigned width) {
            Matcher range = {.kind = Matcher::Kind::range, .low = 1, .high = 0, .prefix = {}};  // empty
            switch (matcher.kind) {
                case Matcher::Kind::exact:
                    range.low = range.high = matcher.low;
                    break;
                case Matcher::Kind::prefix: {
                    const Prefix& prefix = matcher.prefix;
                    if (prefix.bits != width) break;
                    const unsigned open = prefix.bits - prefix.length;
                    range.low = prefix.value;
                    range.high = range.low | (open == 128 ? ~u128{0} : (u128{1} << open) - 1);
                    break;
                }
                default:
                    return matcher;
            }
            return range;
        }

        size_t words_ = 0;
        std::vector<uint64_t> bits_;
        IntervalSearch<u128> search_;
    };

    /// A component in a group of rows. Prefixes match numbers of their own family's width only.
    class Component {
      public:
        Component(std::span<const AclRow<V>> rows, size_t component) : other_(rows, component, 0) {
            const auto has = [&](unsigned bits) {
                return std::any_of(rows.begin(), rows.end(), [&](const AclRow<V>& row) {
                    const Matcher& matcher = row.matchers[component];
                    return matcher.kind == Matcher::Kind::prefix && matcher.prefix.bits == bits;
                });
            };
            if ((has_four_ = has(32))) four_ = Vectors(rows, component, 32);
            if ((has_six_ = has(128))) six_ = Vectors(rows, component, 128);
        }

        const uint64_t* of(u128 number, unsigned width) const {
            if (width == 32 && has_four_) return four_.of(number);
            if (width == 128 && has_six_) return six_.of(number);
            return other_.of(number);
        }
        size_t memory() const { return other_.memory() + four_.memory() + six_.memory(); }

      private:
        Vectors other_, four_, six_;
        bool has_four_ = false, has_six_ = false;
    };
    using Group = std::vector<Component>;

    uint32_t first_match(const Group& group, std::span<const u128> key, std::span<const uint8_t> widths) const {
        const size_t start = static_cast<size_t>(&group - groups_.data()) * most;
        const size_t words = (std::min(most, values_.size() - start) + 63) / 64;
        std::array<const uint64_t*, 16> vectors;
        const size_t used = std::min(group.size(), vectors.size());
        for (size_t c = 0; c < used; ++c) vectors[c] = group[c].of(key[c], widths[c]);
        for (size_t w = 0; w < words; ++w) {
            uint64_t match = vectors[0][w];
            for (size_t c = 1; c < used && match != 0; ++c) match &= vectors[c][w];
            for (size_t c = used; c < group.size() && match != 0; ++c) match &= group[c].of(key[c], widths[c])[w];
            if (match != 0) return static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(match)));
        }
        return none;
    }

    std::vector<Group> groups_;
    std::vector<V> values_;
};

}  // namespace polysome
