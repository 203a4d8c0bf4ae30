/// `config acl<K, V>`: the first row that matches all components of a key (STATE.md, section 11).
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "nf/acl/group.hpp"
#include "nf/acl/matcher.hpp"
#include "nf/reader.hpp"
#include "nf/types.hpp"

namespace polysome {

/// One matcher per component of the key. Rows of higher priority come first.
template <class V>
struct AclRow {
    std::vector<Matcher> matchers;
    int64_t priority = 0;
    V value{};
};

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

/// Rows by falling priority, then in file order. A lookup takes a few dozen instructions per component, and that again
/// for every 2048 rows up to the one that matches. Memory is at most about a kilobyte per row and component, and some
/// milliseconds build a table of thousands of rows.
template <class V>
class Acl {
  public:
    /// The rows from now on; all have the same number of matchers, at least one.
    void replace(std::vector<AclRow<V>> rows) {
        std::stable_sort(rows.begin(), rows.end(),
                         [](const auto& a, const auto& b) { return a.priority > b.priority; });
        groups_.clear();
        values_.clear();
        for (size_t first = 0; first < rows.size(); first += AclGroup::most) {
            const auto some = std::span(rows).subspan(first, std::min(AclGroup::most, rows.size() - first));
            std::vector<std::vector<const Matcher*>> matchers(some[0].matchers.size());
            for (const auto& row : some)
                for (size_t c = 0; c < matchers.size(); ++c) matchers[c].push_back(&row.matchers[c]);
            groups_.emplace_back(matchers);
        }
        for (auto& row : rows) values_.push_back(std::move(row.value));
    }

    /// The value of the first row that matches, until the next `replace`; null if none does. `key` has as many
    /// components as a row has matchers; `widths`: each component's bits.
    template <size_t Components>
    const V* get(const u128 (&key)[Components], const uint8_t (&widths)[Components]) const {
        for (size_t g = 0; g < groups_.size(); ++g) {
            const uint32_t row = groups_[g].first_match(key, widths);
            if (row != AclGroup::none) return &values_[g * AclGroup::most + row];
        }
        return nullptr;
    }

    size_t size() const { return values_.size(); }
    size_t memory() const {
        size_t sum = values_.capacity() * sizeof(V);
        for (const AclGroup& group : groups_) sum += group.memory();
        return sum;
    }

  private:
    std::vector<AclGroup> groups_;
    std::vector<V> values_;
};

}  // namespace polysome
