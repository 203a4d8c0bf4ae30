/// `config list<T>`: rows in file order, which keep their identity over changes (LANGUAGE.md, L8.2 to L8.4).
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "nf/archive.hpp"
#include "nf/set_table.hpp"
#include "nf/types.hpp"

namespace polysome {

/// The rows that a table ever had, by identity. A row that has gone keeps its value, for entries that still name it and
/// are told to `on end`; so memory grows by each row that is new in a change.
template <class T>
class Rows {
  public:
    Row add(T value) {
        rows_.push_back({std::move(value), true});
        return {static_cast<uint32_t>(rows_.size() - 1)};
    }
    void set(Row row, T value) { rows_[row.id].value = std::move(value); }
    void mark(Row row, bool live) { rows_[row.id].live = live; }

    /// `row` must be one of this table's, gone or not.
    const T& value(Row row) const { return rows_[row.id].value; }
    /// False also for a row that never was one of this table's.
    bool live(Row row) const { return row.id < rows_.size() && rows_[row.id].live; }

    /// All of them, with their identities.
    template <class Archive>
    void carry(Archive& archive) {
        archive(rows_);
    }
    /// `f(value, row)` for each that is live.
    template <class F>
    void each_live(F f) const {
        for (uint32_t id = 0; id < rows_.size(); ++id)
            if (rows_[id].live) f(rows_[id].value, Row{id});
    }

  private:
    struct Entry {
        T value{};
        bool live = false;

        template <class Archive>
        void carry(Archive& archive) {
            archive(value, live);
        }
    };
    std::vector<Entry> rows_;
};

/// A list. T needs `<` and `==`. Equal values are one row, which stands at several places. `at`, `value`, `live` are
/// O(1), `contains` is O(1) if the values are numbers, else O(log n); `replace` is O(n log n).
template <class T>
class ListTable {
  public:
    /// The values from now on. A row whose value is among them stays; of the others, those that were there are gone.
    void replace(std::vector<T> values) {
        std::map<T, Row> present;
        order_.clear();
        order_.reserve(values.size());
        for (T& value : values) {
            auto place = present.find(value);
            if (place == present.end()) {
                const auto old = present_.find(value);
                const Row row = old == present_.end() ? rows_.add(value) : old->second;
                place = present.emplace(std::move(value), row).first;
            }
            order_.push_back(place->second);
        }
        for (const auto& [value, row] : present_) rows_.mark(row, false);
        for (const auto& [value, row] : present) rows_.mark(row, true);
        present_ = std::move(present);
        build();
    }

    size_t size() const { return order_.size(); }
    /// The row at place `i`, which is less than `size`.
    Row at(size_t i) const { return order_[i]; }
    const T& value(Row row) const { return rows_.value(row); }
    bool live(Row row) const { return rows_.live(row); }
    bool contains(const T& value) const { return values_.contains(value); }

    /// Rows in file order.
    auto begin() const { return order_.begin(); }
    auto end() const { return order_.end(); }

    /// The rows' identities: the values follow by `replace`, as at a change.
    template <class Archive>
    void carry(Archive& archive) {
        archive(rows_);
        if constexpr (!Archive::loading) return;
        present_.clear();
        rows_.each_live([&](const T& value, Row row) { present_.emplace(value, row); });
        build();
    }

  private:
    void build() {
        std::vector<T> values;
        for (const auto& [value, row] : present_) values.push_back(value);
        values_.replace(std::move(values));
    }

    Rows<T> rows_;
    std::vector<Row> order_;
    std::map<T, Row> present_;
    SetTable<T> values_;  ///< of `present_`
};

}  // namespace polysome
