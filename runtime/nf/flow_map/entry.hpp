/// How a flow map lays out its entries: what every packet reads in one place, bookkeeping in another.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "nf/flow_map/wheel.hpp"

namespace polysome {

/// A number that is there only if a map needs it. `which` tells several in one struct apart.
template <bool needed, int which>
struct Optional64 {
    uint64_t ns;
};
template <int which>
struct Optional64<false, which> {};

/// What follows from a map's Spec at compile time.
template <class Spec>
struct FlowMapTraits {
    static constexpr bool evicts = Spec::when_full == WhenFull::evict;
    static constexpr bool oldest_by_write = Spec::has_age && !Spec::has_idle;
    static constexpr bool varies = Spec::has_idle ? Spec::idle_varies : Spec::age_varies;
    static constexpr uint64_t hour = 3'600'000'000'000;

    /// Entries end in the order of their last use (or write): one queue knows both the due and the oldest.
    static constexpr bool due_in_order = evicts && Spec::has_idle != Spec::has_age && !varies &&
                                         (Spec::has_idle ? Spec::idle_max : Spec::age_max) <= hour;
    static constexpr bool expires = Spec::has_idle || Spec::has_age;
    static constexpr bool queues_uses = evicts && !due_in_order;

    static constexpr bool keeps_used = Spec::has_idle || (evicts && !oldest_by_write);
    static constexpr bool keeps_written = Spec::has_age;
    static constexpr bool keeps_idle = Spec::has_idle && Spec::idle_varies;
    static constexpr bool keeps_age = Spec::has_age && Spec::age_varies;
    /// The due time may sink without a write only if idle varies.
    static constexpr bool sinks =
        expires && ((Spec::has_idle && Spec::idle_varies) || (Spec::has_age && Spec::age_varies));

    static constexpr size_t indexes = std::tuple_size_v<typename Spec::Indexes>;
    /// Index keys may come from a row, whose contents change: then they are kept as they were at the write.
    static constexpr bool keeps_index_words = indexes > 0 && Spec::has_alive;

    /// A bound of how far ahead an entry is due.
    static constexpr uint64_t span = !expires          ? 0
                                     : !Spec::has_idle ? Spec::age_max
                                     : !Spec::has_age
                                         ? Spec::idle_max
                                         : (Spec::idle_max < Spec::age_max ? Spec::idle_max : Spec::age_max);
};

template <class Spec>
struct FlowMapFields {
    using Traits = FlowMapTraits<Spec>;
    typename Spec::Words key;
    [[no_unique_address]] typename Spec::Value value;
    [[no_unique_address]] Optional64<Traits::keeps_used, 0> used;
    [[no_unique_address]] Optional64<Traits::keeps_written, 1> written;
    [[no_unique_address]] Optional64<Traits::keeps_idle, 2> idle;
    [[no_unique_address]] Optional64<Traits::keeps_age, 3> age;
};

/// Bytes to align T to, so that one that fits a cache line never lies in two.
template <class T>
inline constexpr size_t line_alignment = sizeof(T) <= 64 ? std::bit_ceil(sizeof(T)) : alignof(T);

/// The part of an entry that lookups read.
template <class Spec>
struct alignas(line_alignment<FlowMapFields<Spec>>) HotEntry : FlowMapFields<Spec> {};

/// The part that insertion and expiry need. Unused entries are chained by `link.next`.
template <class Spec>
struct ColdEntry {
    struct NoWords {};
    using Words = std::conditional_t<FlowMapTraits<Spec>::keeps_index_words, typename Spec::Indexes, NoWords>;

    uint64_t seq;  ///< insertion number + 1; 0 if unused
    WheelLink link;
    [[no_unique_address]] std::conditional_t<(FlowMapTraits<Spec>::indexes > 0),
                                             std::array<uint64_t, FlowMapTraits<Spec>::indexes>, NoWords>
        index_hashes;
    [[no_unique_address]] std::conditional_t<FlowMapTraits<Spec>::keeps_index_words, Words, Optional64<false, 4>>
        index_words;
};

}  // namespace polysome
