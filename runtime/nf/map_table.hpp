/// `config map<K, V>`: a row per key, which keeps its identity over changes while the key stays (LANGUAGE.md, L8.4).
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "nf/list_table.hpp"

namespace polysome {

/// A map. K needs `<`. `get` is O(log n), `value` and `live` are O(1), `replace` is O(n log n).
template <class K, class V>
class MapTable {
  public:
    /// The entries from now on. The row of a key that stays gets the new value; the rows of other keys are gone.
    void replace(std::vector<std::pair<K, V>> entries) {
        std::vector<std::pair<K, Row>> order;
        order.reserve(entries.size());
        for (const auto& [key, row] : order_) rows_.mark(row, false);
        for (auto& [key, value] : entries) {
            const std::optional<Row> old = get(key);
            const Row row = old ? *old : rows_.add(std::move(value));
            if (old) rows_.set(row, std::move(value));
            rows_.mark(row, true);
            order.emplace_back(std::move(key), row);
        }
        order_ = std::move(order);
        sorted_ = order_;
        std::sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    }

    std::optional<Row> get(const K& key) const {
        const auto less = [](const std::pair<K, Row>& entry, const K& wanted) { return entry.first < wanted; };
        const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), key, less);
        if (found == sorted_.end() || key < found->first) return std::nullopt;
        return found->second;
    }

    size_t size() const { return order_.size(); }
    bool contains(const K& key) const { return get(key).has_value(); }
    const V& value(Row row) const { return rows_.value(row); }
    bool live(Row row) const { return rows_.live(row); }

    /// Keys and their rows in file order.
    const std::vector<std::pair<K, Row>>& entries() const { return order_; }

  private:
    Rows<V> rows_;
    std::vector<std::pair<K, Row>> order_;
    std::vector<std::pair<K, Row>> sorted_;
};

}  // namespace polysome
