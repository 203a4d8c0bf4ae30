/// `config lpm<K, V>`: the row with the longest prefix that contains an address (STATE.md, section 10).
///
/// Prefixes cut a family's addresses into intervals, each with one answer (Lampson, Srinivasan, Varghese, "IP lookups
/// using multiway and multicolumn search", INFOCOM'98). The search for the interval is a trie over the places where
/// intervals begin, which skips common bits and branches as widely as there are places below.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// Finds the last of ascending numbers that is not above a given one. Address: uint32_t or u128. Memory is O(n) words,
/// a search takes two or three steps for usual tables, each of one or two cache lines.
template <class Address>
class IntervalSearch {
  public:
    /// `begins` ascend strictly, at most 2^27 of them, and begin with 0.
    void build(std::vector<Address> begins) {
        begins_ = std::move(begins);
        nodes_.clear();
        children_.clear();
        root_ = branch(0, static_cast<uint32_t>(begins_.size()));
    }

    /// Which interval `address` is in. There must be one.
    uint32_t find(Address address) const {
        uint32_t ref = root_;
        while ((ref & inner) != 0) {
            const Node& node = nodes_[ref & ~inner];
            const Address top = address >> node.shift >> node.stride;
            if (top != node.top) return (top < node.top ? node.first : node.last) - 1;
            const auto child = static_cast<uint32_t>(address >> node.shift) & ((uint32_t{1} << node.stride) - 1);
            ref = children_[node.children + child];
        }
        const uint32_t first = ref / (most + 1), count = ref % (most + 1);
        uint32_t found = first;
        for (uint32_t i = 0; i < count; ++i) found += begins_[first + i] <= address;
        return found - 1;
    }

    size_t memory() const {
        return begins_.capacity() * sizeof(Address) + nodes_.capacity() * sizeof(Node) +
               children_.capacity() * sizeof(uint32_t);
    }

  private:
    /// The begins from `first` to `last` (excluded) are all those whose bits above `shift` + `stride` are `top`.
    struct Node {
        Address top;
        uint32_t first, last;
        uint32_t children;
        uint8_t shift, stride;
    };
    static constexpr uint32_t inner = uint32_t{1} << 31;  ///< marks a reference to a node; the others are leaves
    static constexpr uint32_t most = 7;                   ///< begins in a leaf

    static unsigned width(Address number) {
        if constexpr (sizeof(Address) <= 8) {
            return static_cast<unsigned>(std::bit_width(number));
        } else {
            const auto high = static_cast<uint64_t>(number >> 64);
            return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high)
                                                   : std::bit_width(static_cast<uint64_t>(number)));
        }
    }

    uint32_t branch(uint32_t first, uint32_t last) {
        const uint32_t count = last - first;
        if (count <= most) return first * (most + 1) + count;
        const unsigned differing = width(begins_[first] ^ begins_[last - 1]);
        const unsigned stride = std::min({differing, static_cast<unsigned>(std::bit_width(count)), 20u});
        const unsigned shift = differing - stride;
        const auto number = static_cast<uint32_t>(nodes_.size());
        const auto children = static_cast<uint32_t>(children_.size());
        nodes_.push_back({begins_[first] >> shift >> stride, first, last, children, static_cast<uint8_t>(shift),
                          static_cast<uint8_t>(stride)});
        children_.resize(children + (size_t{1} << stride));
        const Address block = begins_[first] >> shift >> stride << stride;
        for (uint32_t child = 0, at = first; child < uint32_t{1} << stride; ++child) {
            const uint32_t from = at;
            while (at < last && begins_[at] >> shift == (block | child)) ++at;
            const uint32_t ref = branch(from, at);
            children_[children + child] = ref;
        }
        return number | inner;
    }

    std::vector<Address> begins_;
    std::vector<Node> nodes_;
    std::vector<uint32_t> children_;
    uint32_t root_ = 0;
};

/// IPv4 and IPv6 prefixes, each with a value. `replace` is O(n log n).
template <class V>
class Lpm {
  public:
    /// The rows from now on. False, and nothing has changed, if two have the same prefix (S10.3).
    bool replace(std::vector<std::pair<Prefix, V>> rows) {
        std::vector<uint32_t> order(rows.size());
        for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        const auto key = [&rows](uint32_t i) {
            const Prefix& prefix = rows[i].first;
            return std::make_tuple(prefix.bits, prefix.value, prefix.length);
        };
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
        for (size_t i = 1; i < order.size(); ++i)
            if (key(order[i - 1]) == key(order[i])) return false;
        four_.build(rows, order, 32);
        six_.build(rows, order, 128);
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
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    template <class Address>
    class Family {
      public:
        Family() { build(std::vector<std::pair<Prefix, V>>{}, {}, 0); }

        /// `order`: rows by family, value, length; so a prefix comes before those inside it.
        void build(const std::vector<std::pair<Prefix, V>>& rows, const std::vector<uint32_t>& order, unsigned bits) {
            begins_ = {0};
            rows_ = {none};
            std::vector<std::pair<Address, uint32_t>> open;  // prefixes around this place: last address, row
            for (const uint32_t row : order) {
                const Prefix& prefix = rows[row].first;
                if (prefix.bits != bits) continue;
                const auto first = static_cast<Address>(prefix.value);
                while (!open.empty() && open.back().first < first) close(open);
                begin(first, row);
                const Address inside =
                    prefix.length == 0 ? ~Address{0} : static_cast<Address>((Address{1} << (bits - prefix.length)) - 1);
                open.emplace_back(first | inside, row);
            }
            while (!open.empty()) close(open);
            search_.build(std::move(begins_));
        }

        uint32_t find(Address address) const { return rows_[search_.find(address)]; }
        size_t memory() const { return search_.memory() + rows_.capacity() * sizeof(uint32_t); }

      private:
        void begin(Address first, uint32_t row) {
            if (begins_.back() == first) {
                rows_.back() = row;
            } else {
                begins_.push_back(first);
                rows_.push_back(row);
            }
        }

        void close(std::vector<std::pair<Address, uint32_t>>& open) {
            const Address last = open.back().first;
            open.pop_back();
            if (last != static_cast<Address>(~Address{0})) begin(last + 1, open.empty() ? none : open.back().second);
        }

        std::vector<Address> begins_;
        std::vector<uint32_t> rows_;  ///< of each interval
        IntervalSearch<Address> search_;
    };

    Family<uint32_t> four_;
    Family<u128> six_;
    std::vector<V> values_;
};

}  // namespace polysome
