/// `config map<K, V>`: a row per key, which keeps its identity over changes while the key stays (LANGUAGE.md, L8.4).
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "nf/key_index.hpp"
#include "nf/list_table.hpp"

namespace polysome {

/// A map. K needs `<`. `get` is O(1) if keys are numbers, else O(log n); `value` and `live` are O(1), `replace` is
/// O(n log n).
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
        build();
    }

    std::optional<Row> get(const K& key) const {
        if constexpr (indexable<K>) {
            const uint32_t place = lookup_.find(key);
            return place == KeyIndex<K>::absent ? std::nullopt : std::optional(order_[place].second);
        } else {
            const auto less = [](const std::pair<K, Row>& entry, const K& wanted) { return entry.first < wanted; };
            const auto found = std::lower_bound(lookup_.begin(), lookup_.end(), key, less);
            if (found == lookup_.end() || key < found->first) return std::nullopt;
            return found->second;
        }
    }

    size_t size() const { return order_.size(); }
    bool contains(const K& key) const { return get(key).has_value(); }
    const V& value(Row row) const { return rows_.value(row); }
    bool live(Row row) const { return rows_.live(row); }

    /// Keys and their rows in file order.
    const std::vector<std::pair<K, Row>>& entries() const { return order_; }

    /// The rows with their identities and values.
    template <class Archive>
    void carry(Archive& archive) {
        archive(rows_, order_);
        if constexpr (Archive::loading) build();
    }

  private:
    template <class Key>
    struct Lookup {
        using Type = std::vector<std::pair<Key, Row>>;  // ascending
    };
    template <class Key>
        requires indexable<Key>
    struct Lookup<Key> {
        using Type = KeyIndex<Key>;
    };

    void build() {
        if constexpr (indexable<K>) {
            lookup_.build(static_cast<uint32_t>(order_.size()), [&](uint32_t i) { return order_[i].first; });
        } else {
            lookup_ = order_;
            std::sort(lookup_.begin(), lookup_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        }
    }

    Rows<V> rows_;
    std::vector<std::pair<K, Row>> order_;
    typename Lookup<K>::Type lookup_;
};

}  // namespace polysome
