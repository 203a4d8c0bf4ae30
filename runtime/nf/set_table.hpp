/// `config set<T>` (LANGUAGE.md, section 8).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nf/key_index.hpp"
#include "nf/types.hpp"

namespace polysome {

/// A set of values, ascending. T needs `<`. `contains` is O(1) if they are numbers, else O(log n).
template <class T>
class SetTable {
  public:
    /// The values from now on; what is given twice counts once.
    void replace(std::vector<T> values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        values_ = std::move(values);
        if constexpr (indexable<T>)
            lookup_.build(static_cast<uint32_t>(values_.size()), [&](uint32_t i) { return values_[i]; });
    }

    size_t size() const { return values_.size(); }
    bool contains(const T& value) const {
        if constexpr (indexable<T>) return lookup_.find(value) != KeyIndex<T>::absent;
        return std::binary_search(values_.begin(), values_.end(), value);
    }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

  private:
    struct Nothing {};
    template <class Value>
    struct Lookup {
        using Type = Nothing;
    };
    template <class Value>
        requires indexable<Value>
    struct Lookup<Value> {
        using Type = KeyIndex<Value>;
    };

    std::vector<T> values_;
    [[no_unique_address]] typename Lookup<T>::Type lookup_;
};

}  // namespace polysome
