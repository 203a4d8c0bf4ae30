/// `config set<T>` (LANGUAGE.md, section 8).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// A set of values, ascending. T needs `<`. `contains` is O(log n).
template <class T>
class SetTable {
  public:
    /// The values from now on; what is given twice counts once.
    void replace(std::vector<T> values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        values_ = std::move(values);
    }

    size_t size() const { return values_.size(); }
    bool contains(const T& value) const { return std::binary_search(values_.begin(), values_.end(), value); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

  private:
    std::vector<T> values_;
};

}  // namespace polysome
