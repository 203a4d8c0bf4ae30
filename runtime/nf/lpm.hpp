/// `config lpm<K, V>`: the row with the longest prefix that contains an address (STATE.md, section 10).
#pragma once

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "nf/intervals.hpp"
#include "nf/types.hpp"

namespace polysome {

/// IPv4 and IPv6 prefixes, each with a value. `replace` is O(n log n). A lookup of an IPv4 address waits for memory
/// twice (Intervals), and once more for the value.
template <class V>
class Lpm {
  public:
    using Rows = std::vector<std::pair<Prefix, V>>;

    /// Can these be the rows? Not if two have the same prefix (S10.3).
    static bool acceptable(const Rows& rows) { return distinct(rows, sorted(rows)); }

    Lpm() { replace({}); }

    /// The rows from now on. False, and nothing has changed, if they are not acceptable.
    bool replace(Rows rows) {
        const auto order = sorted(rows);
        if (!distinct(rows, order)) return false;
        four_.build(begins<uint32_t>(rows, order));
        six_.build(begins<u128>(rows, order));
        values_.clear();
        for (auto& row : rows) values_.push_back(std::move(row.second));
        return true;
    }

    /// The value for an address of `bits` (32 or 128) bits, until the next `replace`; null if no prefix contains it.
    const V* get(u128 address, unsigned bits) const {
        uint32_t row = none;
        if (bits == 32) row = four_.find(static_cast<uint32_t>(address));
        if (bits == 128) row = six_.find(address);
        return row == none ? nullptr : &values_[row];
    }

    size_t size() const { return values_.size(); }
    size_t memory() const { return four_.memory() + six_.memory() + values_.capacity() * sizeof(V); }

  private:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max() >> 1;

    /// The rows' numbers by family, value, length; so a prefix comes before those inside it.
    static std::vector<uint32_t> sorted(const Rows& rows) {
        std::vector<uint32_t> order(rows.size());
        std::iota(order.begin(), order.end(), uint32_t{0});
        std::sort(order.begin(), order.end(), [&rows](uint32_t a, uint32_t b) {
            const Prefix &left = rows[a].first, &right = rows[b].first;
            return std::tie(left.bits, left.value, left.length) < std::tie(right.bits, right.value, right.length);
        });
        return order;
    }

    static bool distinct(const Rows& rows, const std::vector<uint32_t>& order) {
        const auto same = [&rows](uint32_t a, uint32_t b) { return rows[a].first == rows[b].first; };
        return std::adjacent_find(order.begin(), order.end(), same) == order.end();
    }

    /// The intervals of a family's addresses, with the row that each belongs to.
    template <class Address>
    static auto begins(const Rows& rows, const std::vector<uint32_t>& order) {
        constexpr unsigned bits = 8 * sizeof(Address);
        std::vector<std::pair<Address, uint32_t>> found = {{0, none}};
        const auto begin = [&found](Address first, uint32_t row) {
            if (found.back().first == first) {
                found.back().second = row;
            } else {
                found.emplace_back(first, row);
            }
        };
        std::vector<std::pair<Address, uint32_t>> open;  // prefixes around this place: last address, row
        const auto close = [&] {
            const Address last = open.back().first;
            open.pop_back();
            if (last != static_cast<Address>(~Address{0})) begin(last + 1, open.empty() ? none : open.back().second);
        };
        for (const uint32_t row : order) {
            const Prefix& prefix = rows[row].first;
            if (prefix.bits != bits) continue;
            const auto first = static_cast<Address>(prefix.value);
            while (!open.empty() && open.back().first < first) close();
            begin(first, row);
            const Address inside =
                prefix.length == 0 ? ~Address{0} : static_cast<Address>((Address{1} << (bits - prefix.length)) - 1);
            open.emplace_back(first | inside, row);
        }
        while (!open.empty()) close();
        return found;
    }

    Intervals<uint32_t> four_;
    Intervals<u128> six_;
    std::vector<V> values_;
};

}  // namespace polysome
