/// A map of the spec: a table, and when its entries end. In the column Equal that is exact; in Approximate, an entry
/// ends when it is looked up or a sweep of a few places per batch meets it, and of a sample the oldest is evicted.
///
/// Entry: has `key`, `life`, `is(key)`, `hash()`, `free()`, and `lifetime()`: which of the store's idle times it has.
#pragma once

#include <array>

#include "endings.hpp"
#include "rival.hpp"

namespace polysome::bench {

template <class Entry, size_t LIFETIMES, class Column>
class Store {
  public:
    using Idle = std::array<uint64_t, LIFETIMES>;  ///< ns

    Store(uint64_t capacity, const Idle& idle) : capacity_(capacity), idle_(idle), table_(capacity) {
        for (const uint64_t one : idle) lifetimes_.emplace_back(one);
    }

    void prefetch(uint32_t hash) const { table_.prefetch(hash); }
    uint32_t candidate(uint32_t hash) const { return table_.candidate(hash); }
    Entry& operator[](uint32_t place) { return table_[place]; }
    bool full() const { return size_ >= capacity_; }

    /// The key's place or NONE; see Table. `ended(entry, time)` is told of one that ends; it is gone afterwards.
    template <class Key, class Ended>
    [[gnu::always_inline]] uint32_t find(const Key& key, uint32_t hash, uint32_t candidate, uint64_t now,
                                         Ended&& ended) {
        const uint32_t place = table_.find(key, hash, candidate);
        if constexpr (Column::exact) return place;
        if (place == NONE || !due(table_[place], now)) [[likely]]
            return place;
        end(place, now, ended);
        return NONE;
    }

    /// A place for a new entry, all zeros but for its life; `begin` it when its members are set. It has room.
    uint32_t insert(uint32_t hash, uint64_t now) {
        const uint32_t place = table_.insert(hash);
        table_[place] = {};
        table_[place].life = {now, seq_++, 0};
        ++size_;
        return place;
    }
    /// The entry, just used, has another lifetime, or its first.
    void begin(uint32_t place) {
        if constexpr (Column::exact) lifetimes_[table_[place].lifetime()].push(table_[place].life, place);
    }
    void remove(uint32_t place) {
        table_.erase(place, table_[place].hash());
        table_[place] = {};
        --size_;
    }

    /// Is it past its time? Only in Approximate can there be such an entry.
    bool due(const Entry& entry, uint64_t now) const { return now - entry.life.last >= idle_[entry.lifetime()]; }
    template <class Ended>
    void end(uint32_t place, uint64_t now, Ended&& ended) {
        const Entry gone = table_[place];
        remove(place);
        ended(gone, now);
    }

    /// Entries end that are due, in their order.
    template <class Ended>
    void expire(uint64_t now, Ended&& ended) {
        if constexpr (Column::exact) {
            bool any = false;
            for (const Lifetime& l : lifetimes_) any = any || (now >= l.idle() && l.may_have(now - l.idle()));
            if (any) [[unlikely]]
                expire_all(now, ended);
        } else {
            for (int i = 0; i < 4; ++i) {
                const uint32_t place = next();
                if (!table_[place].free() && due(table_[place], now)) end(place, now, ended);
            }
        }
    }
    /// The entry ends that was used longest ago. There is one.
    template <class Ended>
    void evict(uint64_t now, Ended&& ended) {
        if constexpr (Column::exact) {
            Oldest found{};
            Lifetime* of = nullptr;
            for (uint32_t i = 0; i < LIFETIMES; ++i) {
                Oldest one;
                if (!lifetimes_[i].oldest(now, of_lifetime(i), one) || (of != nullptr && !one.before(found))) continue;
                found = one;
                of = &lifetimes_[i];
            }
            of->pop();
            end(found.place, now, ended);
        } else {
            uint32_t best = NONE;
            for (uint32_t seen = 0; seen < SAMPLE;) {
                const uint32_t place = next();
                if (table_[place].free()) continue;
                ++seen;
                if (best == NONE || table_[place].life.last < table_[best].life.last) best = place;
            }
            end(best, now, ended);
        }
    }

  private:
    static constexpr uint32_t SAMPLE = 8;

    /// What Lifetime asks for.
    struct OfLifetime {
        Table<Entry>* table;
        uint32_t number;

        void prefetch(uint32_t place) const { __builtin_prefetch(&(*table)[place], 1); }
        Life* operator()(uint32_t place) const {
            Entry& entry = (*table)[place];
            return !entry.free() && entry.lifetime() == number ? &entry.life : nullptr;
        }
    };
    OfLifetime of_lifetime(uint32_t number) { return {&table_, number}; }

    uint32_t next() { return next_ = next_ + 1 == table_.places() ? 0 : next_ + 1; }
    template <class Ended>
    [[gnu::noinline]] void expire_all(uint64_t now, Ended&& ended) {
        for (;;) {
            uint64_t first = ~uint64_t{0};
            Oldest found{};
            Lifetime* of = nullptr;
            for (uint32_t i = 0; i < LIFETIMES; ++i) {
                Lifetime& l = lifetimes_[i];
                Oldest one;
                if (now < l.idle() || !l.oldest(now - l.idle(), of_lifetime(i), one)) continue;
                const uint64_t due = one.last + l.idle();
                if (due > first || (due == first && static_cast<int32_t>(one.seq - found.seq) > 0)) continue;
                first = due;
                found = one;
                of = &l;
            }
            if (of == nullptr) return;
            of->pop();
            end(found.place, first, ended);
        }
    }

    uint64_t capacity_, size_ = 0;
    uint32_t seq_ = 0, next_ = 0;
    Idle idle_;
    Table<Entry> table_;
    std::vector<Lifetime> lifetimes_;
};

}  // namespace polysome::bench
