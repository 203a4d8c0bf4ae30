/// A flow map's entries as they go from one process to the next, in the order in which they came.
///
/// How entries are found and when they are due follows from them: places, indexes and queues are made anew.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "nf/archive.hpp"

namespace polysome {

/// Of a FlowMap, for the time of one call.
template <class Map, class Archive>
class CarriedFlowMap {
  public:
    CarriedFlowMap(Map& map, Archive& archive) : map_(map), archive_(archive) {}

    void carry() {
        std::vector<Handle> order;
        if constexpr (Archive::loading) {
            order.resize(archive_.count(0));
            if (map_.size_ != 0 || order.size() > map_.capacity_) archive_.fail();
        } else {
            order = map_.in_order(map_.size_);
            archive_.count(order.size());
        }
        for (Handle& n : order) {
            if (!archive_.ok()) return;
            carry_entry(n);
        }
        if constexpr (Archive::loading) queue(order);
    }

  private:
    using Handle = typename Map::Handle;
    using Words = typename Map::Words;
    using Traits = typename Map::Traits;

    /// A new one, `n`, that no queue knows yet, where it is loaded.
    void carry_entry(Handle& n) {
        Words key{};
        if constexpr (!Archive::loading) key = map_.key(n);
        archive_(key);
        if constexpr (Archive::loading) {
            const auto sought = map_.sought(key);
            if (map_.lookup(sought) != Map::absent) return archive_.fail();
            n = map_.table_.insert(sought.hash);
            map_.seq(n) = ++map_.inserted_;
            map_.set_key(n, key);
            std::construct_at(&map_.hot_[n].value);
            ++map_.size_;
        }
        auto& entry = map_.hot_[n];
        archive_(entry.value);
        if constexpr (Traits::keeps_used) archive_(entry.used.ns);
        if constexpr (Traits::keeps_written) archive_(entry.written.ns);
        if constexpr (Traits::keeps_idle) archive_(entry.idle.ns);
        if constexpr (Traits::keeps_age) archive_(entry.age.ns);
        if constexpr (Traits::keeps_index_words) archive_(map_.cold_[n].index_words);
        if constexpr (Archive::loading && Map::index_count > 0)
            enter_indexes(n, std::make_index_sequence<Map::index_count>());
    }

    template <size_t... I>
    void enter_indexes(Handle n, std::index_sequence<I...>) {
        (enter_index<I>(n), ...);
    }
    /// A place that another entry has: the row of one of them is gone (S1.14), so it is the other's.
    template <size_t I>
    void enter_index(Handle n) {
        typename Map::template IndexWords<I> words;
        if constexpr (Traits::keeps_index_words) {
            words = std::get<I>(map_.cold_[n].index_words);
        } else {
            words = map_.spec_.template index_words<I>(map_.key(n), map_.hot_[n].value);
        }
        const auto sought = map_.template index_sought<I>(words);
        map_.cold_[n].index_hashes[I] = sought.hash;
        const Handle holder = map_.indexes_[I]->find(
            sought.hash, [&](Handle other) { return map_.template has_index_words<I>(other, words); });
        if (holder == Map::absent) {
            map_.indexes_[I]->insert(sought.hash, n);
        } else if (!map_.readable(holder)) {
            map_.indexes_[I]->replace(sought.hash, holder, n);
        }
    }

    /// Entries that were loaded become due, and old.
    void queue(const std::vector<Handle>& order) {
        uint64_t start = map_.clock_.now;
        for (const Handle n : order) {
            if constexpr (Traits::expires) start = std::min(start, map_.rank(n));
        }
        size_t count = 0;
        for (const Handle n : order) {
            map_.schedule(n, map_.seq(n), map_.rank(n), start);
            if constexpr (Traits::queues_uses) map_.uses_->push(map_, n, ++count);
        }
    }

    Map& map_;
    Archive& archive_;
};

}  // namespace polysome
