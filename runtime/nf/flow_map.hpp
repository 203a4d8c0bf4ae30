/// `map<K, V>` and `set<K>` of the language (STATE.md, section 1): bounded, with exact expiry, eviction, owned values
/// and further indexes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nf/flow_map/carry.hpp"
#include "nf/flow_map/entries.hpp"
#include "nf/flow_map/entry.hpp"
#include "nf/flow_map/heap.hpp"
#include "nf/flow_map/table.hpp"
#include "nf/flow_map/wheel.hpp"
#include "nf/memory.hpp"
#include "nf/types.hpp"

namespace polysome {

/// A bounded map from keys (words) to values whose entries end by themselves.
///
/// Spec has
///   Words = std::array<uint64_t, W>, a NarrowKey or a CompactKey; Value, copied freely, destroyed without effect;
///   Indexes = std::tuple<...>, the keys of the further indexes, each as Words, and index_words<I>(key, value);
///   constants has_idle, has_age, idle_varies, age_varies, steady (idle and age of the same key and value never
///   change), has_alive, has_owned, has_on_end, when_full, and idle_max, age_max (ns; exact expiry does not depend on
///   them, speed does);
/// and for each `has`: idle(key, value), age(key, value) in ns, 0 counts as 1; alive(value), false once a row that the
/// value refers to is gone, for good; claim(value), false if not taken, and release(value); on_end(key, value, why),
/// which runs when the entry is gone and its value released and may read and write this map. None of them throws.
///
/// Times are ns. Whoever moves the clock first ends everything due until then: while next_due(t) is not NEVER, the
/// clock is set to it and expire_one called. All other operations rely on it.
///
/// A Handle is good until the next put, remove or expire_one. Lookups and use are O(1), all else O(log n) amortized.
/// Memory is taken as it is first used and never given back; nothing is allocated after construction but by items.
/// Entries lie where their hash puts them: a map that is as large as many of the system's pages has nearly all of them
/// once it has held a few times as many entries.
template <class Spec>
class FlowMap : FlowEntries<Spec> {
    using Traits = FlowMapTraits<Spec>;
    using Entries = FlowEntries<Spec>;
    static constexpr size_t index_count = Traits::indexes;

  public:
    using Words = typename Spec::Words;
    using Value = typename Spec::Value;
    template <size_t I>
    using IndexWords = std::tuple_element_t<I, typename Spec::Indexes>;
    using Handle = uint32_t;
    using Sought = polysome::Sought<Words>;
    template <size_t I>
    using IndexSought = polysome::Sought<IndexWords<I>>;
    static constexpr Handle absent = UINT32_MAX;
    using Entries::bytes_per_entry;
    using Entries::key;
    using Entries::max_capacity;
    using Entries::value;
    static constexpr unsigned nesting = 8;  ///< S1.10

    /// `collide` makes all hashes equal: slow, for tests. Throws std::invalid_argument for a capacity of 0 or above
    /// 2^31, std::bad_alloc if there is no address space.
    FlowMap(Spec spec, const Clock& clock, uint64_t capacity, uint64_t seed, bool collide)
        : Entries(capacity),
          spec_(std::move(spec)),
          clock_(clock),
          capacity_(capacity),
          seed_(seed),
          hashed_(collide ? 0 : ~uint64_t{0}) {
        if constexpr (Traits::expires) wheel_.emplace(capacity, Traits::span);
        if constexpr (Traits::queues_uses) uses_.emplace(capacity);
        for (auto& index : indexes_) index = std::make_unique<EntryTable>(capacity);
    }
    FlowMap(const FlowMap&) = delete;
    FlowMap& operator=(const FlowMap&) = delete;

    // Reading

    /// What the other functions take for a key.
    Sought sought(const Words& key) const { return {key, hash_key(key, seed_) & hashed_, 0}; }
    template <size_t I>
    IndexSought<I> index_sought(const IndexWords<I>& words) const {
        return {words, hash_key(words, seed_ + (I + 1) * 0x9e3779b97f4a7c15) & hashed_, 0};
    }

    /// Fetches what find reads first; expect, once that has arrived, the entry, which find then looks at first.
    void prefetch(const Sought& key) const { table_.prefetch(key.hash); }
    [[gnu::always_inline]] void expect(Sought& key) const {
        key.at = table_.expect(key.hash, [this](Handle n) { touch_hot(n); }, [this](Handle n) { touch_all(n); });
        if constexpr (has_far) {
            if (key.words.is_long()) [[unlikely]]
                prefetch_lines(far_[key.at]);
        }
    }
    template <size_t I>
    void index_prefetch(const IndexSought<I>& key) const {
        indexes_[I]->prefetch(key.hash);
    }
    template <size_t I>
    void index_expect(IndexSought<I>& key) const {
        key.at = indexes_[I]->expect(key.hash, [this](Handle n) { touch_hot(n); });
    }

    /// The entry that can be read, without a refresh; or absent.
    [[gnu::always_inline]] Handle find(const Sought& key) const {
        const Handle n = lookup(key);
        return n != absent && readable(n) ? n : absent;
    }
    template <size_t I>
    Handle find_index(const IndexSought<I>& key) const {
        const Handle n = lookup_index<I>(key);
        return n != absent && readable(n) ? n : absent;
    }

    /// Starts idle time anew (S1.1, S1.5).
    void use(Handle n) {
        if constexpr (Traits::keeps_idle) {
            const uint64_t before = due(n);
            hot_[n].used.ns = clock_.now;
            set_idle(n);
            reschedule(n, before);
        } else if constexpr (Traits::keeps_used) {
            hot_[n].used.ns = clock_.now;
        }
    }

    /// Entries that take room, those whose row is gone included.
    uint64_t size() const { return size_; }

    /// All that can be read, in insertion order, as of now. O(capacity + n log n), of which the capacity only counts
    /// where it is a hundred times n.
    std::vector<std::pair<Words, Value>> items() const {
        std::vector<std::pair<Words, Value>> items;
        items.reserve(size_);
        for (const Handle n : in_order(size_))
            if (readable(n)) items.emplace_back(key(n), hot_[n].value);
        return items;
    }

    // Writing

    /// Inserts or overwrites, and starts idle time and age anew.
    [[gnu::always_inline]] PutResult put(const Sought& key, const Value& value) {
        return put_there(lookup(key), key, value);
    }
    /// The same with what `find(key)` gave, if nothing was written since.
    [[gnu::always_inline]] PutResult put(Handle found, const Sought& key, const Value& value) {
        return put_there(found != absent ? found : lookup(key), key, value);
    }

    static constexpr bool plain = Traits::plain;
    /// The value of an entry, to be written in place, which is what `put` with its handle would do; if `plain`.
    Value& revised(Handle n) {
        start_anew(n);
        return hot_[n].value;
    }

    /// Ends the entry (why `removed`); nothing if there is none. `stored` or `nested`.
    PutResult remove(const Sought& key) {
        const Handle n = lookup(key);
        return {n == absent || end(n, End::removed) ? Put::stored : Put::nested};
    }

    // The passing of time

    /// When the entry that ends next is due, if at or before `by`; else NEVER.
    uint64_t next_due(uint64_t by) {
        if constexpr (Traits::expires) {
            const Handle n = first_due(by);
            return n == absent ? NEVER : due(n);
        } else {
            return NEVER;
        }
    }

    /// Ends the entry that is due first, among equals the one inserted first; the clock is at its due time by now.
    void expire_one() {
        if constexpr (Traits::expires) {
            Handle n = first_due(clock_.now);
            if (n == absent) n = first_due(NEVER);
            if (n == absent) return;
            const bool idle = Spec::has_idle && idle_end_of(spec_, key(n), hot_[n]) == due(n);
            end(n, idle ? End::idle : End::age);
        }
    }

    // Memory

    /// Bytes that the map takes at most when it is full and no key is long, with the queues as large as they have been
    /// so far.
    size_t memory() const {
        size_t bytes = table_.bytes() + hot_.bytes() + cold_.bytes() + sizeof(*this);
        for (const auto& index : indexes_) bytes += index->bytes();
        if constexpr (Traits::expires) bytes += wheel_->bytes();
        if constexpr (Traits::queues_uses) bytes += uses_->bytes();
        return bytes;
    }

    /// To an empty map at the same time, which may be larger (flow_map/carry.hpp). What entries own, their owner
    /// carries. O(n log n).
    template <class Archive>
    void carry(Archive& archive) {
        CarriedFlowMap<FlowMap, Archive>(*this, archive).carry();
    }

  private:
    using IndexPlaces = polysome::IndexPlaces<Spec>;
    using Entries::cold_, Entries::end_key, Entries::far_, Entries::has_cold, Entries::has_far, Entries::has_key,
        Entries::hot_, Entries::in_order, Entries::is_entry, Entries::seq, Entries::set_key, Entries::stamp,
        Entries::table_, Entries::touch, Entries::touch_all, Entries::touch_hot, Entries::use_rank;
    using typename Entries::Cold, typename Entries::Hot;
    friend class Wheel;
    friend class LazyHeap;
    template <class Map, class Archive>
    friend class CarriedFlowMap;

    // What Wheel and LazyHeap ask
    uint64_t rank(Handle n) const {
        if constexpr (Traits::due_in_order) return use_rank(n);
        return due(n);
    }
    void touch_again(Handle n) const {
        if constexpr (index_count > 0) {
            for (size_t i = 0; i < index_count; ++i) indexes_[i]->prefetch(cold_[n].index_hashes[i]);
        }
    }

    // Time

    uint64_t due(Handle n) const { return due_of(spec_, key(n), hot_[n]); }

    void set_idle(Handle n) {
        if constexpr (Traits::keeps_idle) hot_[n].idle.ns = std::max<uint64_t>(1, spec_.idle(key(n), hot_[n].value));
    }

    Handle first_due(uint64_t by) {
        if constexpr (Traits::due_in_order) {  // the span is the same for all
            if (size_ == 0) return absent;
            const uint64_t span = span_of(spec_, key(0), hot_[0]);
            return by < span ? absent : wheel_->first(*this, by - span, clock_.now);
        } else {
            return wheel_->first(*this, by, clock_.now);
        }
    }
    /// Tells the wheel that the entry is due earlier than `before`, if so.
    void reschedule(Handle n, uint64_t before) {
        if constexpr (Traits::sinks) {
            const uint64_t now_due = due(n);
            if (now_due >= before) return;
            schedule(n, seq(n), now_due, clock_.now);
        }
    }

    /// `start`: no rank that the wheel gets is earlier, or hardly one.
    void schedule(Handle n, uint64_t number, uint64_t rank, uint64_t start) {
        if constexpr (Traits::expires) {
            auto stamp = static_cast<uint32_t>(number);
            if constexpr (Traits::sinks) stamp = cold_[n].stamp = ++stamped_;
            wheel_->add(*this, {rank, number, n, stamp}, start);
        }
    }

    // Lookups

    bool readable(Handle n) const {
        if constexpr (Spec::has_alive) return spec_.alive(hot_[n].value);
        return true;
    }
    [[gnu::always_inline]] Handle lookup(const Sought& key) const {
        if (is_entry(key.at, key)) [[likely]] {
            if (key.at == absent) __builtin_unreachable();
            return key.at;
        }
        return search(key);
    }
    [[gnu::noinline]] Handle search(const Sought& key) const {
        return table_.find(key.hash, [&](Handle n) { return has_key(n, key.words); });
    }
    template <size_t I>
    [[gnu::always_inline]] bool has_index_words(Handle n, const IndexWords<I>& words) const {
        if constexpr (Traits::keeps_index_words) {
            return std::get<I>(cold_[n].index_words) == words;
        } else {
            return spec_.template index_words<I>(key(n), hot_[n].value) == words;
        }
    }
    template <size_t I>
    [[gnu::always_inline]] Handle lookup_index(const IndexSought<I>& key) const {
        // Where rows may go, an entry may have lost its place in the index to another.
        if constexpr (!Spec::has_alive) {
            if (is_entry(key.at) && has_index_words<I>(key.at, key.words)) [[likely]]
                return key.at;
        }
        return search_index<I>(key);
    }
    template <size_t I>
    [[gnu::noinline]] Handle search_index(const IndexSought<I>& key) const {
        return indexes_[I]->find(key.hash, [&](Handle n) { return has_index_words<I>(n, key.words); });
    }

    /// Fills `places` for a write of `key`, whose entry is n or absent; the number of the first index that is taken, or
    /// -1.
    int find_places(const Words& key, const Value& value, Handle n, IndexPlaces& places) const {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            int taken = -1;
            (void)((find_place<I>(key, value, n, places) || ((taken = static_cast<int>(I)), false)) && ...);
            return taken;
        }(std::make_index_sequence<index_count>());
    }
    template <size_t I>
    bool find_place(const Words& key, const Value& value, Handle n, IndexPlaces& places) const {
        const IndexSought<I> sought = index_sought<I>(spec_.template index_words<I>(key, value));
        places.hashes[I] = sought.hash;
        places.holders[I] = lookup_index<I>(sought);
        if constexpr (Traits::keeps_index_words) std::get<I>(places.words) = sought.words;
        return places.holders[I] == absent || places.holders[I] == n || !readable(places.holders[I]);
    }
    static PutResult index_taken(int index) { return {Put::index_taken, static_cast<uint8_t>(index)}; }

    // Writing

    bool claim(const Value& value) {
        if constexpr (Spec::has_owned) return spec_.claim(value);
        return true;
    }
    void release(const Value& value) {
        if constexpr (Spec::has_owned) spec_.release(value);
    }

    /// Claimed, with room for it: stores the value in entry n, a new one if absent.
    void store(Handle n, const Sought& key, const Value& value, const IndexPlaces& places) {
        if (n == absent) {
            insert(key, value, places);
        } else {
            overwrite(n, value, places);
        }
    }

    void insert(const Sought& key, const Value& value, const IndexPlaces& places) {
        const Handle n = table_.insert(key.hash);
        ++size_;
        const uint64_t number = ++inserted_;
        seq(n) = number;
        set_key(n, key.words);
        write(n, value, places);
        schedule(n, number, rank(n), clock_.now);
        if constexpr (Traits::queues_uses) uses_->push(*this, n, size_);
    }

    void overwrite(Handle n, const Value& value, const IndexPlaces& places) {
        const uint64_t before = Traits::sinks ? due(n) : 0;
        const Value old = hot_[n].value;
        leave_indexes(n);
        write(n, value, places);
        reschedule(n, before);
        release(old);
    }

    void write(Handle n, const Value& value, const IndexPlaces& places) {
        Hot& entry = hot_[n];
        if (&entry.value != &value) std::construct_at(&entry.value, value);
        start_anew(n);
        set_idle(n);
        if constexpr (Traits::keeps_age) entry.age.ns = std::max<uint64_t>(1, spec_.age(key(n), entry.value));
        if constexpr (index_count > 0) cold_[n].index_hashes = places.hashes;
        if constexpr (Traits::keeps_index_words) cold_[n].index_words = places.words;
        for (size_t i = 0; i < index_count; ++i) {
            const Handle holder = places.holders[i];
            if (holder == absent || holder == n) {
                indexes_[i]->insert(places.hashes[i], n);
            } else {
                indexes_[i]->replace(places.hashes[i], holder, n);  // its row is gone (S1.14)
            }
        }
    }

    /// What most writes are, inlined: nothing else follows from them than the value.
    [[gnu::always_inline]] PutResult put_there(Handle n, const Sought& key, const Value& value) {
        if (n != absent) [[likely]] {
            if constexpr (Traits::plain) {
                hot_[n].value = value;
                start_anew(n);
                return {Put::stored};
            } else if constexpr (Traits::same_is_use) {
                if (hot_[n].value == value) {
                    start_anew(n);
                    return {Put::stored};
                }
            }
            if constexpr (Traits::alone) {
                overwrite(n, value, {});
                return {Put::stored};
            }
        }
        return write(n, key, value);
    }

    void start_anew(Handle n) {
        if constexpr (Traits::keeps_used) hot_[n].used.ns = clock_.now;
        if constexpr (Traits::keeps_written) hot_[n].written.ns = clock_.now;
    }

    /// An entry whose row is gone may have lost its place to another: then it is not found there.
    void leave_indexes(Handle n) {
        if constexpr (index_count > 0) {
            for (size_t i = 0; i < index_count; ++i) indexes_[i]->erase(cold_[n].index_hashes[i], n);
        }
    }

    /// Writes the entry n, or a new one if that is absent.
    [[gnu::noinline]] PutResult write(Handle n, const Sought& key, const Value& value) {
        IndexPlaces places;
        if (const int taken = find_places(key.words, value, n, places); taken >= 0) [[unlikely]]
            return index_taken(taken);
        if (n == absent && size_ >= capacity_) [[unlikely]] {
            if constexpr (Spec::when_full == WhenFull::drop) return {Put::full};
            if constexpr (Spec::when_full == WhenFull::pass) return {Put::passed};
            if constexpr (Traits::evicts) return put_evicting(key, value);
        }
        // before anything ends, so that a value handed from one entry to the next stays taken
        if (!claim(value)) return {Put::not_taken};
        store(n, key, value, places);
        return {Put::stored};
    }

    /// A new key in a full map: evicts the oldest entry. Its on_end may write here too, so all that was checked is
    /// checked again, and arguments that lie in the map are copied first.
    PutResult put_evicting(const Sought key, const Value value) {
        if (!claim(value)) return {Put::not_taken};
        const PutResult result = make_room(key, value);
        if (result.what != Put::stored) release(value);
        return result;
    }
    PutResult make_room(const Sought& key, const Value& value) {
        if (!end(oldest(), End::evicted)) return {Put::nested};
        const Handle n = lookup(key);
        IndexPlaces places;
        if (const int taken = find_places(key.words, value, n, places); taken >= 0) return index_taken(taken);
        if (n == absent && size_ >= capacity_) return {Put::full};
        store(n, key, value, places);
        return {Put::stored};
    }
    Handle oldest() {
        if constexpr (Traits::queues_uses) {
            return uses_->first(*this);
        } else {
            return wheel_->first(*this, NEVER, clock_.now);
        }
    }

    /// Ends the entry (S1.8). False, and nothing changed, if too many are ending (S1.10).
    bool end(Handle n, End why) {
        if (depth_ == nesting) [[unlikely]]
            return false;
        const Words key = this->key(n);
        const Value value = hot_[n].value;
        table_.erase(sought(key).hash, n);
        end_key(n);
        leave_indexes(n);
        seq(n) = 0;
        --size_;
        release(value);
        if constexpr (Spec::has_on_end) {
            ++depth_;
            spec_.on_end(key, value, why);
            --depth_;
        }
        return true;
    }

    Spec spec_;
    const Clock& clock_;
    uint64_t inserted_ = 0;  ///< insertions so far
    uint64_t capacity_;
    uint64_t seed_;
    uint64_t hashed_;       ///< the bits of hashes that count
    unsigned depth_ = 0;    ///< running on_end
    uint64_t size_ = 0;     ///< entries in use
    uint32_t stamped_ = 0;  ///< the last stamp
    std::array<std::unique_ptr<EntryTable>, index_count> indexes_;
    std::conditional_t<Traits::expires, std::optional<Wheel>, None> wheel_;
    std::conditional_t<Traits::queues_uses, std::optional<LazyHeap>, None> uses_;
};

}  // namespace polysome
