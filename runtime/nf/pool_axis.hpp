/// What a pool's values are made of: the lists and ranges after `from` (STATE.md, S2.1).
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "nf/archive.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Different values in an order: a list (what it names twice counts once, at its first place) or a range, which takes
/// no memory. A list of numbers that ascend by 1 is held as a range. T needs `<`; a range has less than 2^63 values.
template <class T>
class PoolAxis {
  public:
    static constexpr uint64_t absent = std::numeric_limits<uint64_t>::max();
    static constexpr bool number = (std::integral<T> || std::same_as<T, u128>) && !std::same_as<T, bool>;

    PoolAxis() = default;

    PoolAxis(std::vector<T> items) {  // NOLINT: a list is an axis
        std::vector<std::pair<T, uint64_t>> sorted;
        sorted.reserve(items.size());
        for (uint64_t i = 0; i < items.size(); ++i) sorted.emplace_back(items[i], i);
        std::sort(sorted.begin(), sorted.end());
        const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
        if (sorted.size() < items.size()) items = first_places(sorted);
        count_ = items.size();
        if (become_range(items)) return;
        items_ = std::move(items);
        sorted_.resize(count_);
        for (uint64_t i = 0; i < count_; ++i) sorted_[i] = i;
        std::sort(sorted_.begin(), sorted_.end(), [this](uint64_t a, uint64_t b) { return items_[a] < items_[b]; });
    }

    /// All numbers from `low` to `high`, both included; none if `low` > `high`.
    static PoolAxis range(T low, T high) {
        PoolAxis axis;
        axis.low_ = low;
        axis.count_ = low > high ? 0 : static_cast<uint64_t>(high - low) + 1;
        return axis;
    }

    uint64_t size() const { return count_; }
    bool is_range() const { return items_.empty(); }

    /// The value at place `i`, which is less than `size`.
    T at(uint64_t i) const {
        if constexpr (number)
            if (items_.empty()) return static_cast<T>(low_ + static_cast<T>(i));
        return items_[i];
    }

    /// The place of a value, or `absent`. O(1) in a range, else O(log size).
    uint64_t place(const T& item) const {
        if constexpr (number) {
            if (items_.empty()) {
                if (count_ == 0 || item < low_) return absent;
                const auto distance = static_cast<u128>(item - low_);
                return distance < count_ ? static_cast<uint64_t>(distance) : absent;
            }
        }
        const auto less = [this](uint64_t place, const T& wanted) { return items_[place] < wanted; };
        const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), item, less);
        return found != sorted_.end() && items_[*found] == item ? *found : absent;
    }

    bool contains(const T& item) const { return place(item) != absent; }

    /// Those of its values that are on the other axis too, in its own order.
    PoolAxis common(const PoolAxis& other) const {
        if constexpr (number) {
            if (items_.empty() && other.items_.empty()) {
                if (count_ == 0 || other.count_ == 0) return {};
                const T low = std::max(low_, other.low_);
                return range(low, std::min(at(count_ - 1), other.at(other.count_ - 1)));
            }
            if (items_.empty()) {
                std::vector<T> kept;
                for (const uint64_t place : other.sorted_)
                    if (contains(other.items_[place])) kept.push_back(other.items_[place]);
                return kept;
            }
        }
        std::vector<T> kept;
        for (const T& item : items_)
            if (other.contains(item)) kept.push_back(item);
        return kept;
    }

    /// The same values in the same order.
    bool operator==(const PoolAxis& other) const {
        if (count_ != other.count_ || items_ != other.items_) return false;
        return !items_.empty() || count_ == 0 || low_ == other.low_;
    }

    size_t memory() const { return items_.capacity() * sizeof(T) + sorted_.capacity() * sizeof(uint64_t); }

    template <class Archive>
    void carry(Archive& archive) {
        archive(low_, count_, items_, sorted_);
    }

  private:
    static std::vector<T> first_places(std::vector<std::pair<T, uint64_t>>& sorted) {
        std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        std::vector<T> items;
        items.reserve(sorted.size());
        for (auto& [item, place] : sorted) items.push_back(std::move(item));
        return items;
    }

    bool become_range(const std::vector<T>& items) {
        if constexpr (number) {
            for (size_t i = 1; i < items.size(); ++i)
                if (items[i] <= items[i - 1] || items[i] - items[i - 1] != 1) return false;
            if (!items.empty()) low_ = items[0];
            return true;
        } else {
            return items.empty();
        }
    }

    T low_{};  ///< of a range: then `items_` is empty
    uint64_t count_ = 0;
    std::vector<T> items_;          ///< of a list
    std::vector<uint64_t> sorted_;  ///< places in `items_`, by value
};

/// Axes, of which the product is meant: the first outermost. They are shared and never change.
template <class... Axis>
using PoolAxes = std::shared_ptr<const std::tuple<PoolAxis<Axis>...>>;

/// Carries axes that several share, each once: those that are the same stay the same. One for all of a pool's.
template <class Archive, class... Axis>
class CarriedAxes {
  public:
    explicit CarriedAxes(Archive& archive) : archive_(archive) {}

    void operator()(PoolAxes<Axis...>& axes) {
        auto number = static_cast<uint32_t>(std::find(known_.begin(), known_.end(), axes) - known_.begin());
        archive_(number);
        if (number < known_.size()) {
            axes = known_[number];
            return;
        }
        if constexpr (Archive::loading) {
            std::tuple<PoolAxis<Axis>...> read;
            archive_(read);
            axes = std::make_shared<const std::tuple<PoolAxis<Axis>...>>(std::move(read));
        } else {
            auto copy = *axes;
            archive_(copy);
        }
        known_.push_back(axes);
    }

  private:
    Archive& archive_;
    std::vector<PoolAxes<Axis...>> known_{nullptr};  ///< the first: none
};

/// Calls `f` with 0 to N-1 as constants, until it returns true. Did it?
template <size_t N, class F>
constexpr bool any_index(F&& f) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return (f(std::integral_constant<size_t, I>{}) || ...);
    }(std::make_index_sequence<N>{});
}

/// Is the product of axes I, I+1, … empty but for values in the product of the others?
template <size_t I = 0, class... Axis>
bool covered(const PoolAxes<Axis...>& axes, const PoolAxes<Axis...>& others) {
    constexpr size_t N = sizeof...(Axis);
    const bool empty = any_index<N>([&](auto i) { return i >= I && std::get<i>(*axes).size() == 0; });
    if (empty || others == nullptr) return empty;
    return !any_index<N>([&](auto i) {
        const auto& axis = std::get<i>(*axes);
        return i >= I && axis.common(std::get<i>(*others)).size() != axis.size();
    });
}

/// The part of each axis that is also on the other; `axes` itself if that is all of it.
template <class... Axis>
PoolAxes<Axis...> common(const PoolAxes<Axis...>& axes, const PoolAxes<Axis...>& others) {
    std::tuple<PoolAxis<Axis>...> found;
    any_index<sizeof...(Axis)>([&](auto i) {
        std::get<i>(found) = std::get<i>(*axes).common(std::get<i>(*others));
        return false;
    });
    if (found == *axes) return axes;
    return std::make_shared<const std::tuple<PoolAxis<Axis>...>>(std::move(found));
}

/// The members of a pool's value, as many as it has axes, as a tuple of references. With one axis that is of the
/// value's own type, the value itself.
template <class First, size_t N, class Item>
auto members(const Item& item) {
    if constexpr (N == 1 && std::same_as<First, Item>) {
        return std::tie(item);
    } else if constexpr (requires { std::tuple_size<Item>::value; }) {
        return std::apply([](const auto&... member) { return std::tie(member...); }, item);
    } else if constexpr (N == 1) {
        const auto& [a] = item;
        return std::tie(a);
    } else if constexpr (N == 2) {
        const auto& [a, b] = item;
        return std::tie(a, b);
    } else if constexpr (N == 3) {
        const auto& [a, b, c] = item;
        return std::tie(a, b, c);
    } else if constexpr (N == 4) {
        const auto& [a, b, c, d] = item;
        return std::tie(a, b, c, d);
    } else if constexpr (N == 5) {
        const auto& [a, b, c, d, e] = item;
        return std::tie(a, b, c, d, e);
    } else {
        static_assert(N == 6, "a pool has at most 6 axes");
        const auto& [a, b, c, d, e, f] = item;
        return std::tie(a, b, c, d, e, f);
    }
}

/// The values of a product, one after the other, each when it is asked for.
template <class... Axis>
class PoolProduct {
  public:
    static constexpr size_t N = sizeof...(Axis);
    using Axes = PoolAxes<Axis...>;
    using Places = std::array<uint64_t, N>;

    /// The product of `axes` except what is in the product of `without` (if not null).
    PoolProduct(Axes axes, Axes without) : axes_(std::move(axes)), within_(axes_), without_(std::move(without)) {
        any_index<N>([&](auto i) {
            covered_[i] = without_ != nullptr && covered<i>(axes_, without_);
            return false;
        });
    }

    /// From now on, only what is in the product of `axes` too. False if nothing can be left.
    bool restrict(const Axes& axes) {
        within_ = common(within_, axes);
        return !covered(within_, without_);
    }

    const Axes& axes() const { return axes_; }

    /// Is there a next value? Then it is at `places` of `axes`; `advance` goes on behind it. Amortized O(N), or
    /// O(N · log size) with lists after a change.
    bool find() { return seek<0>(without_ != nullptr); }
    const Places& places() const { return at_; }
    void advance() { ++at_[N - 1]; }

    template <class Archive>
    void carry(Archive& archive, CarriedAxes<Archive, Axis...>& carried) {
        carried(axes_);
        carried(within_);
        carried(without_);
        archive(covered_, at_);
    }

  private:
    /// Moves to the first place from `at_` on that counts. `excluded`: the places before I are those of `without`.
    template <size_t I>
    bool seek(bool excluded) {
        if constexpr (I == N) {
            return !excluded;
        } else {
            const auto& axis = std::get<I>(*axes_);
            if (excluded && covered_[I]) return false;
            for (; at_[I] < axis.size(); ++at_[I], rewind<I + 1>()) {
                if (within_ != axes_ && !std::get<I>(*within_).contains(axis.at(at_[I]))) continue;
                if (seek<I + 1>(excluded && std::get<I>(*without_).contains(axis.at(at_[I])))) return true;
            }
            return false;
        }
    }

    template <size_t From>
    void rewind() {
        for (size_t i = From; i < N; ++i) at_[i] = 0;
    }

    Axes axes_, within_, without_;
    std::array<bool, N> covered_{};  ///< are the axes from here on covered by those of `without`?
    Places at_{};
};

}  // namespace polysome
