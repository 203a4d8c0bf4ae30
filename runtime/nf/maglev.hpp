/// `config maglev<V>`: spreads hashes over rows evenly and moves few of them when rows change (STATE.md, section 12).
///
/// Eisenbud et al., "Maglev: a fast and reliable software network load balancer" (NSDI'16), section 3.4. Weights are
/// turns per round, as in Katran.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nf/list_table.hpp"

namespace polysome {

/// A table of a prime number of places, each of which belongs to a row. T needs `<`; rows have identities like those
/// of a list. `at` is O(1), `replace` about O(places · log places).
template <class T>
class Maglev {
  public:
    using Weighted = std::pair<T, uint64_t>;

    /// Can these be the rows of a table of `size` places? Not if `size` is no prime below 2^32 or the weights add up to
    /// more than it (S12.5).
    static bool acceptable(const std::vector<Weighted>& rows, uint64_t size) {
        u128 turns = 0;
        for (const auto& [value, weight] : rows) turns += weight;
        return turns <= size && is_prime(size);
    }

    /// The rows, with weights, from now on. `hash64(const T&)` is the SipHash of a row's canonical bytes. False, and
    /// nothing has changed, if they are not acceptable.
    template <class Hash64>
    bool replace(std::vector<Weighted> rows, Hash64&& hash64, uint64_t size) {
        if (!acceptable(rows, size)) return false;
        std::vector<Taker> takers;
        std::vector<size_t> numbers;
        for (size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].second == 0) continue;
            const uint64_t hash = hash64(rows[i].first);
            takers.push_back({(hash >> 32) % size, (hash & 0xffffffff) % (size - 1) + 1, rows[i].second});
            numbers.push_back(i);
        }
        const auto places = populate(takers, size);
        std::vector<T> values;
        for (auto& row : rows) values.push_back(std::move(row.first));
        rows_.replace(std::move(values));
        places_.clear();
        for (const uint32_t taker : places) places_.push_back(rows_.at(numbers[taker]));
        return true;
    }

    /// The row of place `hash` mod size; none if the table is empty.
    std::optional<Row> at(uint64_t hash) const {
        if (places_.empty()) return std::nullopt;
        return places_[hash % places_.size()];
    }

    /// Rows, also those of weight 0, in file order.
    size_t size() const { return rows_.size(); }
    const T& value(Row row) const { return rows_.value(row); }
    bool live(Row row) const { return rows_.live(row); }
    auto begin() const { return rows_.begin(); }
    auto end() const { return rows_.end(); }

    /// The rows' identities, as of a list.
    template <class Archive>
    void carry(Archive& archive) {
        archive(rows_);
    }

  private:
    /// A row that takes `weight` places per round; it prefers `next`, then each time `skip` further.
    struct Taker {
        uint64_t next, skip, weight;
    };

    static bool is_prime(uint64_t n) {
        if (n < 2 || n >> 32 != 0) return false;
        for (uint64_t divisor = 2; divisor * divisor <= n; ++divisor)
            if (n % divisor == 0) return false;
        return true;
    }

    /// Which taker each place belongs to; no places if there are no takers.
    static std::vector<uint32_t> populate(std::vector<Taker>& takers, uint64_t size) {
        if (takers.empty()) return {};
        constexpr uint32_t free = std::numeric_limits<uint32_t>::max();
        std::vector<uint32_t> places(size, free);
        uint64_t taken = 0;
        for (uint32_t number = 0; taken < size; number = number + 1 == takers.size() ? 0 : number + 1) {
            Taker& taker = takers[number];
            for (uint64_t turn = 0; turn < taker.weight && taken < size; ++turn, ++taken) {
                while (places[taker.next] != free) advance(taker, size);
                places[taker.next] = number;
                advance(taker, size);
            }
        }
        return places;
    }

    static void advance(Taker& taker, uint64_t size) {
        taker.next += taker.skip;
        if (taker.next >= size) taker.next -= size;
    }

    ListTable<T> rows_;
    std::vector<Row> places_;
};

}  // namespace polysome
