/// What became of packets: counts, by reason where they were dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace polysome {

/// The reasons every NF has, by their places in Nf::reasons; those of schedules are in policy/base.hpp.
enum Reason : uint16_t { reason_no_handler = 1, reason_short_frame = 2, reason_empty_set = 3 };

/// What happened (L13.1): packets_in = sent (at least one copy) + dropped + held; copies and emitted packets apart.
template <size_t R>
struct Counters {
    uint64_t packets_in = 0;
    uint64_t sent = 0;
    uint64_t copies = 0;
    uint64_t emitted = 0;
    std::array<uint64_t, R> dropped{};  ///< by reason

    void add(const Counters& other) {
        packets_in += other.packets_in;
        sent += other.sent;
        copies += other.copies;
        emitted += other.emitted;
        for (size_t i = 0; i < R; ++i) dropped[i] += other.dropped[i];
    }
};

}  // namespace polysome
