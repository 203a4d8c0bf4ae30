/// `pool<T>`: values that are handed out, each to one owner at a time, and come back (STATE.md, section 2).
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "nf/pool_axis.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Partitions that can be hashed: numbers and tuples of them.
template <class T>
inline constexpr bool hashed_partition = std::integral<T> || std::same_as<T, u128>;
template <class... T>
inline constexpr bool hashed_partition<std::tuple<T...>> = (hashed_partition<T> && ...);

struct PartitionHash {
    template <class T>
    size_t operator()(const T& value) const {
        if constexpr (std::integral<T> || std::same_as<T, u128>) {
            const auto wide = static_cast<u128>(value);
            return hash_words<2>({static_cast<uint64_t>(wide), static_cast<uint64_t>(wide >> 64)}, 0);
        } else {
            uint64_t sum = 0;
            std::apply([&](const auto&... member) { ((sum = fold(sum ^ (*this)(member), 0x9e3779b97f4a7c15)), ...); },
                       value);
            return sum;
        }
    }
};

/// The product of the axes, each value free or out, separately for each partition.
///
/// Item is made from a value of each axis: `Item{a, b}`. All operations but `reload` are O(1) amortized, besides
/// finding a list's item by binary search. Values are numbered in mixed radix over the axes. An untouched value costs
/// no memory, one that was given out 4 bytes while it is out and 8 when it is back.
template <class Item, class Partition, class... Axis>
class Pool {
  public:
    using Value = Taken<Item, Partition>;

    explicit Pool(PoolAxis<Axis>... axes) { become(std::make_shared<const Product>(std::move(axes)...)); }

    /// The domain changed: what left it is not given out any more, what is new is free the shortest, ascending.
    /// O(values that are or were out), in all partitions.
    void reload(PoolAxis<Axis>... axes) {
        const auto changed = std::make_shared<const Product>(std::move(axes)...);
        if (*changed == *axes_) return;
        Old old{axes_, numbering_, {}};
        for (auto& [within, without] : history_) within = common(within, changed);
        become(changed, old.axes);
        std::erase_if(history_, [](const auto& each) { return covered(each.first, each.second); });
        old.translation = translate(*old.axes);
        for (auto& [key, part] : partitions_) renumber(part, old);
    }

    /// The value longest free, at first ascending; none if all are out. It is loose until it is claimed.
    std::optional<Value> take(const Partition& partition = {}) {
        Part& part = partition_of(partition);
        const std::optional<Item> item = next_free(part);
        if (!item) return std::nullopt;
        loose_.push_back({{*item, partition}, true});
        return loose_.back().value;
    }

    /// One more entry holds the value. False if it is not out (it went back earlier in this handler).
    bool claim(const Value& taken) {
        Part* part = find_partition(taken.partition);
        if (part == nullptr) return false;
        uint32_t* holders = part->holders(number(taken.value), taken.value);
        if (holders == nullptr || *holders == 0) return false;
        if ((*holders)++ == 1) unloose(taken);
        return true;
    }

    /// One entry less holds the value; the last one makes it free at once, as the one that is free the shortest.
    void release(const Value& taken) {
        Part* part = find_partition(taken.partition);
        if (part == nullptr) return;
        const uint64_t cell = number(taken.value);
        uint32_t* holders = part->holders(cell, taken.value);
        if (holders == nullptr || *holders < 2) return;
        if (--*holders == 1) give_back(*part, cell, taken.value);
    }

    /// The handler has ended: what it took and stored nowhere is free again, in order of taking.
    [[gnu::always_inline]] void settle() {
        if (!loose_.empty()) [[unlikely]]
            give_loose_back();
    }

    /// How many values are free (`pool.len`), modulo 2^64.
    uint64_t available(const Partition& partition = {}) const {
        const Part* part = const_cast<Pool*>(this)->find_partition(partition);
        return numbering_.size - (part == nullptr ? 0 : part->out_inside);
    }

    size_t memory() const {
        size_t sum = 0;
        for (const auto& [key, part] : partitions_) sum += part.memory();
        return sum;
    }

    /// To a new one, between two handlers; then `reload` with the domain of now.
    template <class Archive>
    void carry(Archive& archive) {
        CarriedAxes<Archive, Axis...> carried(archive);
        carried(axes_);
        archive(numbering_.strides, numbering_.size);
        history_.resize(archive.count(history_.size()));
        for (auto& [axes, without] : history_) {
            carried(axes);
            carried(without);
        }
        const uint64_t n = archive.count(partitions_.size());
        if constexpr (Archive::loading) {
            partitions_.clear();
            for (uint64_t i = 0; i < n && archive.ok(); ++i) {
                Partition partition{};
                archive(partition);
                partitions_[partition].carry(archive, carried);
            }
        } else {
            for (auto& [key, part] : partitions_) {
                Partition partition = key;
                archive(partition);
                part.carry(archive, carried);
            }
        }
    }

  private:
    [[gnu::noinline]] void give_loose_back() {
        for (const Loose& loose : loose_)
            if (loose.held)
                give_back(*find_partition(loose.value.partition), number(loose.value.value), loose.value.value);
        loose_.clear();
        loose_begin_ = 0;
    }

    static constexpr size_t N = sizeof...(Axis);
    using Product = std::tuple<PoolAxis<Axis>...>;
    using Axes = PoolAxes<Axis...>;
    using First = std::tuple_element_t<0, std::tuple<Axis...>>;
    using Places = std::array<uint64_t, N>;
    using Translation = std::array<std::vector<uint64_t>, N>;

    /// Values from this number on, and those outside the domain, are kept by value.
    static constexpr uint64_t far = std::numeric_limits<uint32_t>::max();
    static constexpr uint64_t outside = far + 1;

    /// A value's number is the sum of place · stride; strides stop growing beyond `outside`.
    struct Numbering {
        std::array<uint64_t, N> strides{};
        uint64_t size = 0;

        uint64_t number(const Places& places) const {
            uint64_t sum = 0;
            for (size_t i = 0; i < N; ++i) {
                const u128 part = static_cast<u128>(places[i]) * strides[i];
                if (part >= far) return far;
                sum += static_cast<uint64_t>(part);
            }
            return std::min(sum, far);
        }

        Places places(uint64_t number) const {
            Places found;
            for (size_t i = 0; i < N; ++i) {
                found[i] = number / strides[i];
                number %= strides[i];
            }
            return found;
        }
    };

    /// The domain before a change.
    struct Old {
        Axes axes;
        Numbering numbering;
        Translation translation;
    };

    /// Free values that nobody has asked for yet, before those that became free as number `position`.
    struct Run {
        PoolProduct<Axis...> cells;
        std::set<Item> skip;
        uint64_t position;
    };

    struct Part {
        static constexpr size_t page_size = 256;
        using Page = std::array<uint32_t, page_size>;

        std::vector<Run> runs;
        std::deque<uint32_t> free;  ///< by number, that free longest first; `far`: the next of `far_free`
        std::list<Item> far_free;
        uint64_t position = 0;                     ///< of the first in `free`
        std::vector<std::unique_ptr<Page>> pages;  ///< by number: 0, or 1 + how many entries hold the value
        std::map<Item, uint32_t> others;           ///< the same of values without a number
        uint64_t out_inside = 0;                   ///< how many of those out belong to the domain

        /// Null or zero: not out.
        uint32_t* holders(uint64_t cell, const Item& item) {
            if (cell < far) {
                const size_t page = cell / page_size;
                return page < pages.size() && pages[page] != nullptr ? &(*pages[page])[cell % page_size] : nullptr;
            }
            const auto found = others.find(item);
            return found == others.end() ? nullptr : &found->second;
        }

        uint32_t& holders_to_set(uint64_t cell, const Item& item) {
            if (cell >= far) return others[item];
            const size_t page = cell / page_size;
            if (page >= pages.size()) pages.resize(page + 1);
            if (pages[page] == nullptr) pages[page] = std::make_unique<Page>();
            return (*pages[page])[cell % page_size];
        }

        template <class Archive>
        void carry(Archive& archive, CarriedAxes<Archive, Axis...>& carried) {
            const uint64_t n = archive.count(runs.size());
            for (uint64_t i = 0; i < n && archive.ok(); ++i) {
                if constexpr (Archive::loading) runs.push_back({{nullptr, nullptr}, {}, 0});
                runs[i].cells.carry(archive, carried);
                archive(runs[i].skip, runs[i].position);
            }
            archive(free, far_free, position, others, out_inside);
            pages.resize(archive.count(pages.size()));
            for (auto& page : pages) {
                bool there = page != nullptr;
                archive(there);
                if (there && page == nullptr) page = std::make_unique<Page>();
                if (there) archive.raw(page->data(), sizeof(Page));
            }
        }

        void push(uint64_t cell, const Item& item) {
            free.push_back(static_cast<uint32_t>(std::min(cell, far)));
            if (cell >= far) far_free.push_back(item);
        }

        size_t memory() const {
            size_t sum = sizeof(Part) + free.size() * sizeof(uint32_t) + pages.capacity() * sizeof(pages[0]);
            for (const auto& page : pages) sum += page == nullptr ? 0 : sizeof(Page);
            return sum + (far_free.size() + others.size()) * (sizeof(Item) + 32);
        }
    };

    struct Loose {
        Value value;
        bool held;  ///< by nothing but this
    };

    void become(Axes axes, Axes old = nullptr) {
        axes_ = std::move(axes);
        numbering_.size = 1;
        uint64_t stride = 1;
        for (size_t i = N; i-- > 0;) {
            uint64_t count = 0;
            any_index<N>([&](auto n) {
                if (n == i) count = std::get<n>(*axes_).size();
                return false;
            });
            numbering_.strides[i] = stride;
            numbering_.size *= count;
            stride = static_cast<uint64_t>(
                std::min<u128>(static_cast<u128>(stride) * std::max<uint64_t>(count, 1), outside));
        }
        history_.emplace_back(axes_, std::move(old));
    }

    Part* find_partition(const Partition& partition) {
        const auto found = partitions_.find(partition);
        return found == partitions_.end() ? nullptr : &found->second;
    }

    Part& partition_of(const Partition& partition) {
        if (Part* found = find_partition(partition)) return *found;
        Part& part = partitions_[partition];
        for (const auto& [axes, without] : history_) part.runs.push_back({{axes, without}, {}, 0});
        return part;
    }

    static Item make(const Product& axes, const Places& places) {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return Item{std::get<I>(axes).at(places[I])...};
        }(std::make_index_sequence<N>{});
    }

    /// The value's number; `far` if that is too high for one, `outside` if it does not belong to the domain.
    uint64_t number(const Item& item) const { return number(item, *axes_, numbering_); }

    static uint64_t number(const Item& item, const Product& axes, const Numbering& numbering) {
        const auto parts = members<First, N>(item);
        Places places;
        const bool missing = any_index<N>([&](auto i) {
            places[i] = std::get<i>(axes).place(std::get<i>(parts));
            return places[i] == PoolAxis<First>::absent;
        });
        return missing ? outside : numbering.number(places);
    }

    /// The value that is free longest, from now on out.
    std::optional<Item> next_free(Part& part) {
        while (!part.runs.empty() && part.runs.front().position == part.position) {
            if (auto found = next_of_run(part)) return found;
            part.runs.erase(part.runs.begin());
        }
        if (part.free.empty()) return std::nullopt;
        const uint32_t cell = part.free.front();
        part.free.pop_front();
        ++part.position;
        Item item;
        if (cell < far) {
            item = make(*axes_, numbering_.places(cell));
        } else {
            item = std::move(part.far_free.front());
            part.far_free.pop_front();
        }
        return out(part, cell, item);
    }

    std::optional<Item> next_of_run(Part& part) {
        Run& run = part.runs.front();
        while (run.cells.find()) {
            const Places places = run.cells.places();
            run.cells.advance();
            const Item item = make(*run.cells.axes(), places);
            if (run.skip.contains(item)) continue;
            return out(part, run.cells.axes() == axes_ ? numbering_.number(places) : number(item), item);
        }
        return std::nullopt;
    }

    static Item out(Part& part, uint64_t cell, const Item& item) {
        part.holders_to_set(cell, item) = 1;
        ++part.out_inside;
        return item;
    }

    void give_back(Part& part, uint64_t cell, const Item& item) {
        if (cell < far) {
            *part.holders(cell, item) = 0;
        } else {
            part.others.erase(item);
        }
        if (cell == outside) return;
        --part.out_inside;
        part.push(cell, item);
    }

    /// An entry holds it now. Handlers mostly store what they took last, or in the order they took it.
    void unloose(const Value& taken) {
        size_t i = loose_.size() - 1;
        if (!(loose_[i].held && loose_[i].value == taken)) {
            i = loose_begin_;
            while (!(loose_[i].held && loose_[i].value == taken)) ++i;
        }
        loose_[i].held = false;
        while (loose_begin_ < loose_.size() && !loose_[loose_begin_].held) ++loose_begin_;
        while (!loose_.empty() && !loose_.back().held) loose_.pop_back();
        loose_begin_ = std::min(loose_begin_, loose_.size());
    }

    /// Where the old places of each axis that was a list are now.
    Translation translate(const Product& old) const {
        Translation found;
        any_index<N>([&](auto i) {
            const auto &was = std::get<i>(old), &is = std::get<i>(*axes_);
            if (was.is_range()) return false;
            for (uint64_t place = 0; place < was.size(); ++place) found[i].push_back(is.place(was.at(place)));
            return false;
        });
        return found;
    }

    /// The new number of a value that has an old one.
    uint64_t renumbered(uint64_t cell, const Old& old) const {
        Places places = old.numbering.places(cell);
        const bool missing = any_index<N>([&](auto i) {
            const auto& was = std::get<i>(*old.axes);
            uint64_t& place = places[i];
            place = was.is_range() ? std::get<i>(*axes_).place(was.at(place)) : old.translation[i][place];
            return place == PoolAxis<First>::absent;
        });
        return missing ? outside : numbering_.number(places);
    }

    void renumber(Part& part, const Old& old) {
        renumber_free(part, old);
        std::set<Item> skip;
        for (const auto& [item, holders] : part.others)
            if (number(item) != outside && number(item, *old.axes, old.numbering) == outside) skip.insert(item);
        renumber_out(part, old);
        if (!covered(axes_, old.axes))
            part.runs.push_back({{axes_, old.axes}, std::move(skip), part.position + part.free.size()});
    }

    void renumber_free(Part& part, const Old& old) {
        std::deque<uint32_t> free;
        std::list<Item> far_free;
        free.swap(part.free);
        far_free.swap(part.far_free);
        uint64_t position = part.position;
        size_t run = 0;
        const auto settle_runs = [&] {  // those that stood before this position
            for (; run < part.runs.size() && part.runs[run].position <= position; ++run)
                part.runs[run].position = part.position + part.free.size();
        };
        for (const uint32_t cell : free) {
            settle_runs();
            ++position;
            if (cell < far) {
                const uint64_t now = renumbered(cell, old);
                if (now != outside) part.push(now, now == far ? make(*old.axes, old.numbering.places(cell)) : Item{});
            } else {
                const uint64_t now = number(far_free.front());
                if (now != outside) part.push(now, far_free.front());
                far_free.pop_front();
            }
        }
        settle_runs();
        std::erase_if(part.runs, [this](Run& each) { return !each.cells.restrict(axes_); });
    }

    void renumber_out(Part& part, const Old& old) {
        std::vector<std::unique_ptr<typename Part::Page>> pages;
        std::map<Item, uint32_t> others;
        pages.swap(part.pages);
        others.swap(part.others);
        part.out_inside = 0;
        const auto move = [&](uint64_t cell, const Item& item, uint32_t holders) {
            part.holders_to_set(cell, item) = holders;
            part.out_inside += cell != outside;
        };
        for (size_t i = 0; i < pages.size(); ++i) {
            for (size_t j = 0; pages[i] != nullptr && j < Part::page_size; ++j) {
                const uint32_t holders = (*pages[i])[j];
                if (holders == 0) continue;
                const uint64_t cell = i * Part::page_size + j, now = renumbered(cell, old);
                move(now, now < far ? Item{} : make(*old.axes, old.numbering.places(cell)), holders);
            }
            pages[i].reset();
        }
        for (const auto& [item, holders] : others) move(number(item), item, holders);
    }

    using Partitions =
        std::conditional_t<hashed_partition<Partition>, std::unordered_map<Partition, Part, PartitionHash>,
                           std::map<Partition, Part>>;

    Axes axes_;
    Numbering numbering_;
    std::vector<std::pair<Axes, Axes>> history_;  ///< the free values of an untouched partition: axes, without
    Partitions partitions_;
    std::vector<Loose> loose_;  ///< taken by this handler, in order
    size_t loose_begin_ = 0;    ///< none before this is held by nothing
};

}  // namespace polysome
