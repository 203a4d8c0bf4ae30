/// `config ranges<K, V>`: disjoint ranges of integers with a value each.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace polysome {

/// Ranges to which both ends belong. A lookup is O(log rows), `replace` O(rows · log rows).
template <class K, class V>
class Ranges {
  public:
    using Rows = std::vector<std::tuple<K, K, V>>;

    /// Can these be the rows? Not if one has no keys, or two have one in common.
    static bool acceptable(Rows rows) {
        sort(rows);
        for (size_t i = 0; i < rows.size(); ++i) {
            if (std::get<0>(rows[i]) > std::get<1>(rows[i])) return false;
            if (i > 0 && std::get<0>(rows[i]) <= std::get<1>(rows[i - 1])) return false;
        }
        return true;
    }

    /// The rows from now on, which are acceptable.
    void replace(Rows rows) {
        sort(rows);
        rows_ = std::move(rows);
    }

    /// The value of the range that holds the key, until the next `replace`; null if none does.
    const V* get(K key) const {
        const auto after = std::upper_bound(rows_.begin(), rows_.end(), key,
                                            [](K wanted, const auto& row) { return wanted < std::get<0>(row); });
        if (after == rows_.begin() || key > std::get<1>(after[-1])) return nullptr;
        return &std::get<2>(after[-1]);
    }

    size_t size() const { return rows_.size(); }

  private:
    static void sort(Rows& rows) {
        std::sort(rows.begin(), rows.end(),
                  [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    }

    Rows rows_;
};

}  // namespace polysome
