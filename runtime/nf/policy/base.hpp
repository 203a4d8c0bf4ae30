/// What every schedule policy is to the Machine. The meaning of a schedule: kinds/policy/SCHEDULE.md, which all of this
/// follows to the nanosecond; P numbers in comments are its rules.
///
/// A policy P<ClassKey> has
///   static constexpr bool immediate;   // every packet leaves as it is offered; the rest is then not used
///   explicit P(const Settings&);
///   void offer(const Item<ClassKey>&, uint64_t now, Host&);   // leaves, is dropped, or is held
///   u128 next_due() const;             // when run_due is wanted next; not_due if nothing is held; O(1)
///   void run_due(Host&);               // lets everything leave that is due at exactly next_due()
///   size_t held() const;               // packets (copies) held
///   void carry(Archive&);              // to a new one with the same settings (nf/archive.hpp)
/// where Host has
///   void leave(uint32_t packet, uint16_t port, uint64_t time);
///   void refuse(uint32_t packet, uint16_t reason);
/// The caller keeps time (P1.3): `now` never runs back, and before offer(item, now) it calls run_due as long as
/// next_due() <= now. Every item offered gets exactly one call of leave or refuse, or is still held.
///
/// Times are ns, sizes bytes, rates bit/s or packets/s; products of a rate and a time are exact, in 128 bits.
#pragma once

#include <algorithm>

#include "nf/archive.hpp"
#include "nf/types.hpp"

namespace polysome {

/// The constants of a schedule; `not_given` where the spec says nothing.
struct Settings {
    static constexpr uint64_t not_given = ~uint64_t{0};

    uint64_t serve = not_given;    ///< bit/s per output port
    uint64_t classes = not_given;  ///< at most so many
    uint64_t idle = not_given;     ///< ns
    uint64_t buffer = not_given;   ///< bytes
    uint64_t queue = not_given;    ///< bytes per class
    uint64_t window = not_given;   ///< ns, of reframe
    uint64_t count = not_given;    ///< packets, of reframe
    WhenFull when_full = WhenFull::drop;
    bool packets = false;  ///< rate and burst of police and shape count packets, not bytes
};

/// The drop reasons of schedules, by their places in Nf::reasons.
enum Refusal : uint16_t {
    refused_policed = 4,
    refused_burst = 5,
    refused_rate = 6,
    refused_class = 7,
    refused_queue = 8,
    refused_buffer = 9,
};

/// One packet (one copy, if it goes to several ports) that a handler sent.
///
/// `packet`: the caller's number for it; copies of one packet share it. `size`: bytes as it leaves, at least 14.
/// `order`: the packet's arrival number, which never falls from offer to offer. `args`: the policy's run-time values.
template <class Key>
struct Item {
    uint32_t packet = 0;
    uint16_t port = 0;
    uint32_t size = 0;
    uint64_t order = 0;
    uint64_t args[2] = {0, 0};
    Key cls{};
};

inline constexpr u128 not_due = ~u128{0};
inline constexpr uint64_t full_frame = 1514;  ///< what one unit of DRR weight stands for

inline u128 ceil_div(u128 a, uint64_t b) { return a / b + (a % b != 0); }

/// Why `size` bytes may not be held beside those of their class and those held in total (P1.7); 0 if they may.
inline uint16_t no_room(const Settings& settings, uint64_t size, uint64_t of_class, uint64_t in_total) {
    if (settings.queue != Settings::not_given && of_class + size > settings.queue) return refused_queue;
    if (settings.buffer != Settings::not_given && in_total + size > settings.buffer) return refused_buffer;
    return 0;
}

}  // namespace polysome
