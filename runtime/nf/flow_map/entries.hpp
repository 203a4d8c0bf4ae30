/// The entries of a flow map: where they lie, and what is known of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "nf/flow_map/entry.hpp"
#include "nf/flow_map/heap.hpp"
#include "nf/flow_map/key.hpp"
#include "nf/flow_map/slots.hpp"
#include "nf/flow_map/table.hpp"
#include "nf/memory.hpp"

namespace polysome {

/// Entries by number, found by the hash of their keys.
template <class Spec>
class FlowEntries {
    using Traits = FlowMapTraits<Spec>;

  public:
    using Words = typename Spec::Words;
    using Value = typename Spec::Value;
    using Handle = uint32_t;
    static constexpr uint64_t max_capacity = uint64_t{1} << 31;

    const Value& value(Handle n) const { return hot_[n].value; }
    Words key(Handle n) const {
        if constexpr (has_far) {
            return Words(hot_[n].key, far_[n]);
        } else {
            return Form::key(hot_[n].key);
        }
    }

    /// Bytes that each entry of a large map takes when it is full. There are 4/3 places per entry. Of each place, the
    /// hot and the cold part, 32/30 bytes of table, and 64/12 for each index; of each entry, a note of 128/15 bytes in
    /// the wheel, if there are timeouts, and 24 in the queue of uses. (Maps that evict the oldest have that queue, but
    /// for those whose only timeout is constant and at most an hour.) A long key (flow_map/key.hpp) takes its words
    /// besides.
    ///
    /// What comes and goes is not in it: notes of entries that were removed or evicted before they were due, at most as
    /// many as entries; 24 bytes for each entry in the slot of the wheel that is open, which is one of thousands, or
    /// that is due before that slot's end; a chunk of 128 bytes that is not full for each slot, of which there is one
    /// for 32 to 64 entries; what arrays are rounded up by, at most 2 MiB each.
    static constexpr size_t bytes_per_entry() {
        const double place = static_cast<double>(sizeof(Hot) + (has_cold ? sizeof(Cold) : 0)) +
                             PlaceTable::bytes_per_place + Traits::indexes * EntryTable::bytes_per_entry;
        const double queues =
            (Traits::expires ? Slots::bytes_per_note : 0) + (Traits::queues_uses ? sizeof(Ranked) : 0);
        return static_cast<size_t>(place * 4 / 3 + queues + 0.5);
    }

  protected:
    using Hot = HotEntry<Spec>;
    using Cold = ColdEntry<Spec>;
    using Form = KeyForm<Words>;
    static constexpr bool has_cold = !std::is_empty_v<Cold>, has_far = Form::has_far;
    using Far = typename FarWords<Words>::Type;
    static_assert(std::is_trivially_destructible_v<Value>);

    explicit FlowEntries(uint64_t capacity)
        : table_(checked(capacity)),
          hot_(table_.numbers()),
          cold_(has_cold ? table_.numbers() : 1),
          far_(has_far ? table_.numbers() : 1, Access::sparse) {}

    /// All of them, `count`, in insertion order.
    std::vector<Handle> in_order(uint64_t count) const {
        std::vector<std::pair<uint64_t, Handle>> numbered;
        numbered.reserve(count);
        table_.each([&](Handle n) { numbered.emplace_back(seq(n), n); });
        std::sort(numbered.begin(), numbered.end());
        std::vector<Handle> order;
        order.reserve(count);
        for (const auto& [seq, n] : numbered) order.push_back(n);
        return order;
    }

    uint64_t& seq(Handle n) {
        if constexpr (seq_is_hot<Spec>) {
            return hot_[n].seq.ns;
        } else {
            return cold_[n].seq.ns;
        }
    }
    uint64_t seq(Handle n) const { return const_cast<FlowEntries*>(this)->seq(n); }
    uint32_t stamp(Handle n) const {
        if constexpr (Traits::sinks) {
            return cold_[n].stamp;
        } else {
            return static_cast<uint32_t>(seq(n));
        }
    }
    uint64_t use_rank(Handle n) const {
        if constexpr (Traits::oldest_by_write) {
            return hot_[n].written.ns;
        } else {
            return hot_[n].used.ns;
        }
    }

    // Fetching what will be read or written

    void touch(Handle n) const {
        table_.prefetch_entry(n);
        touch_all(n);
    }
    void touch_hot(Handle n) const { prefetch_lines(hot_[n]); }
    void touch_all(Handle n) const {
        touch_hot(n);
        if constexpr (has_cold) __builtin_prefetch(&cold_[n], 1);
    }

    bool has_key(Handle n, const Words& key) const {
        if (!same_words(hot_[n].key, Form::near(key))) return false;
        if constexpr (has_far) {
            if (key.is_long()) [[unlikely]]
                return same_words(far_[n], key.far);
        }
        return true;
    }
    /// Is this the entry with that key? Of any number.
    bool is_entry(Handle n, const Sought<Words>& key) const {
        if constexpr (Form::tells) return has_key(n, key.words);  // what has ended has no key
        return table_.holds(n, key.hash) && has_key(n, key.words);
    }
    /// Is there an entry with that number?
    bool is_entry(Handle n) const {
        if constexpr (Form::tells) return Form::is_key(hot_[n].key);
        return table_.holds(n);
    }
    void end_key(Handle n) {
        if constexpr (Form::tells) hot_[n].key = {};
    }
    void set_key(Handle n, const Words& key) {
        hot_[n].key = Form::near(key);
        if constexpr (has_far) {
            if (key.is_long()) [[unlikely]]
                far_[n] = key.far;
        }
    }

    PlaceTable table_;
    MappedArray<Hot> hot_;
    MappedArray<Cold> cold_;
    MappedArray<Far> far_;  ///< of entries whose keys are long; nothing else touches it

  private:
    static uint64_t checked(uint64_t capacity) {
        if (capacity < 1 || capacity > max_capacity) throw std::invalid_argument("a map's capacity is 1 to 2^31");
        return capacity;
    }
};

}  // namespace polysome
