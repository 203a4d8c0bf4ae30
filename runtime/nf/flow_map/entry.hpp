/// How a flow map lays out its entries: what every packet reads in one cache line, what does not fit elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "nf/flow_map/key.hpp"
#include "nf/types.hpp"

namespace polysome {

/// A number that is there only if a map needs it. `which` tells several in one struct apart.
template <bool needed, int which>
struct Optional64 {
    uint64_t ns;
};
template <int which>
struct Optional64<false, which> {};

/// What became of a write: `stored`; nothing stored under the policy `pass`; or the write traps with `NAME full`,
/// `index I of NAME taken` (I in PutResult::index), what the pool says, `on end of NAME nested too deep`.
enum class Put : uint8_t { stored, passed, full, index_taken, not_taken, nested };

struct PutResult {
    Put what;
    uint8_t index = 0;
};

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
    static constexpr bool keeps_idle = Spec::has_idle && Spec::idle_varies && !Spec::steady;
    static constexpr bool keeps_age = Spec::has_age && Spec::age_varies && !Spec::steady;
    /// An entry that is written with the value it has is due no earlier than before, and nothing else changes.
    static constexpr bool same_is_use = !keeps_idle && !keeps_age && !Spec::has_owned &&
                                        std::tuple_size_v<typename Spec::Indexes> == 0 &&
                                        std::equality_comparable<typename Spec::Value>;
    /// The due time may sink without a write only if idle varies.
    static constexpr bool sinks =
        expires && ((Spec::has_idle && Spec::idle_varies) || (Spec::has_age && Spec::age_varies));

    static constexpr size_t indexes = std::tuple_size_v<typename Spec::Indexes>;
    /// A write of an entry that is there changes the entry alone, and maybe when it is due.
    static constexpr bool alone = !Spec::has_owned && indexes == 0;
    /// It changes its value and its last use, and nothing follows from that.
    static constexpr bool plain = alone && !sinks && !keeps_idle && !keeps_age;
    /// Index keys may come from a row, whose contents change: then they are kept as they were at the write.
    static constexpr bool keeps_index_words = indexes > 0 && Spec::has_alive;

    /// A bound of how far ahead an entry is due.
    static constexpr uint64_t span = !expires          ? 0
                                     : !Spec::has_idle ? Spec::age_max
                                     : !Spec::has_age
                                         ? Spec::idle_max
                                         : (Spec::idle_max < Spec::age_max ? Spec::idle_max : Spec::age_max);
};

/// What lookups read, in the order in which they do; `seq`, which they do not, is here if `with_seq`.
template <class Spec, bool with_seq>
struct HotFields {
    using Traits = FlowMapTraits<Spec>;
    typename KeyForm<typename Spec::Words>::Near key;
    [[no_unique_address]] Optional64<Traits::keeps_used, 0> used;
    [[no_unique_address]] Optional64<Traits::keeps_written, 1> written;
    [[no_unique_address]] Optional64<Traits::keeps_idle, 2> idle;
    [[no_unique_address]] Optional64<Traits::keeps_age, 3> age;
    [[no_unique_address]] Optional64<with_seq, 4> seq;  ///< insertion number + 1; 0 if unused
    [[no_unique_address]] typename Spec::Value value;   ///< last, or what follows might lie in its padding
};

/// Bytes to align T to, so that one that fits a cache line never lies in two.
template <class T>
inline constexpr size_t line_alignment = sizeof(T) <= 64 ? std::bit_ceil(sizeof(T)) : alignof(T);

template <class T>
struct alignas(line_alignment<T>) LineAligned : T {};

/// Is the insertion number with what lookups read? Only if there is room for nothing.
template <class Spec>
inline constexpr bool seq_is_hot =
    sizeof(LineAligned<HotFields<Spec, true>>) == sizeof(LineAligned<HotFields<Spec, false>>);

/// The part of an entry that lookups read.
template <class Spec>
struct HotEntry : LineAligned<HotFields<Spec, seq_is_hot<Spec>>> {};

/// The part that only insertion and the end of an entry need; may be empty.
template <class Spec>
struct ColdEntry {
    template <int which>
    struct Nothing {};
    template <bool needed, class T, int which>
    using Optional = std::conditional_t<needed, T, Nothing<which>>;
    using Traits = FlowMapTraits<Spec>;

    [[no_unique_address]] Optional64<!seq_is_hot<Spec>, 5> seq;
    [[no_unique_address]] Optional<(Traits::indexes > 0), std::array<uint64_t, Traits::indexes>, 0> index_hashes;
    [[no_unique_address]] Optional<Traits::keeps_index_words, typename Spec::Indexes, 1> index_words;
    [[no_unique_address]] Optional<Traits::sinks, uint32_t, 2> stamp;  ///< of the note in the wheel that holds
};

/// Where a write goes in the indexes.
template <class Spec>
struct IndexPlaces {
    using Traits = FlowMapTraits<Spec>;
    std::array<uint64_t, Traits::indexes> hashes;
    std::array<uint32_t, Traits::indexes> holders;  ///< the entry that has the place, or absent
    std::conditional_t<Traits::keeps_index_words, typename Spec::Indexes, None> words;
};

/// The idle time of an entry with this key, ns.
template <class Spec>
uint64_t idle_of(const Spec& spec, const typename Spec::Words& key, const HotEntry<Spec>& entry) {
    if constexpr (FlowMapTraits<Spec>::keeps_idle) {
        return entry.idle.ns;
    } else {
        return std::max<uint64_t>(1, spec.idle(key, entry.value));
    }
}

/// The age at which an entry ends, ns.
template <class Spec>
uint64_t age_of(const Spec& spec, const typename Spec::Words& key, const HotEntry<Spec>& entry) {
    if constexpr (FlowMapTraits<Spec>::keeps_age) {
        return entry.age.ns;
    } else {
        return std::max<uint64_t>(1, spec.age(key, entry.value));
    }
}

/// After what time an entry without a further use ends, ns: of a map with one of both timeouts.
template <class Spec>
uint64_t span_of(const Spec& spec, const typename Spec::Words& key, const HotEntry<Spec>& entry) {
    if constexpr (Spec::has_idle) {
        return idle_of(spec, key, entry);
    } else {
        return age_of(spec, key, entry);
    }
}

/// `time + span`, or NEVER if that is beyond all times.
inline uint64_t later(uint64_t time, uint64_t span) { return time + span < time ? NEVER : time + span; }

/// When the idle time of an entry is over, ns; or NEVER.
template <class Spec>
uint64_t idle_end_of(const Spec& spec, const typename Spec::Words& key, const HotEntry<Spec>& entry) {
    if constexpr (Spec::has_idle) return later(entry.used.ns, idle_of(spec, key, entry));
    return NEVER;
}

/// When an entry ends by itself, ns; or NEVER.
template <class Spec>
uint64_t due_of(const Spec& spec, const typename Spec::Words& key, const HotEntry<Spec>& entry) {
    const uint64_t idle_end = idle_end_of(spec, key, entry);
    if constexpr (Spec::has_age) return std::min(idle_end, later(entry.written.ns, age_of(spec, key, entry)));
    return idle_end;
}

/// Fetches an entry's cache lines, to be written.
template <class Hot>
void prefetch_lines(const Hot& hot) {
    const char* const entry = reinterpret_cast<const char*>(&hot);
    for (size_t offset = 0; offset < std::min(sizeof(Hot), size_t{256}); offset += 64)
        __builtin_prefetch(entry + offset, 1);
    if constexpr (sizeof(Hot) > 64 && sizeof(Hot) < 256 && sizeof(Hot) % 64 != 0)
        __builtin_prefetch(entry + sizeof(Hot) - 1, 1);
}

}  // namespace polysome
