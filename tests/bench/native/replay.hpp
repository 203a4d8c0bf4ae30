/// Frames that came to a system's switch, once more into that of another system like it, without all the rest.
#pragma once

#include <time.h>

#include <cstdint>
#include <span>

#include "system/abi.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern "C" {
/// What a replay took and did.
struct polysome_replay {
    uint64_t ns;           ///< of this thread on a core
    uint64_t cycles;       ///< of the time-stamp counter in this time; 0 where there is none
    uint64_t transmitted;  ///< frames that left
    uint64_t bytes;        ///< of these
};
}

namespace polysome::bench {

inline uint64_t cycles() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

inline uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// `frames`: by time, which counts as the switch's clock does; `port` is the device's.
template <class Switch>
polysome_replay replay(Switch& device, std::span<const polysome_arrival> frames) {
    polysome_replay done{};
    const auto count = [&](uint16_t, std::span<const uint8_t> bytes, uint64_t, uint64_t) {
        ++done.transmitted;
        done.bytes += bytes.size();
    };
    const uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), first = cycles();
    for (const polysome_arrival& frame : frames) {
        device.advance(frame.time, count);
        device.receive(frame.port, {frame.data, frame.size}, frame.time);
    }
    while (device.next() != ~uint64_t{0}) device.advance(device.next(), count);
    const uint64_t passed = cycles() - first, all = clock_ns(CLOCK_MONOTONIC) - start;
    done.ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    done.cycles =
        static_cast<uint64_t>(static_cast<double>(passed) * static_cast<double>(done.ns) / static_cast<double>(all));
    return done;
}

}  // namespace polysome::bench

extern "C" inline __attribute__((used, visibility("default"))) void polysome_system_replay(
    void* system, const polysome_arrival* frames, size_t n, polysome_replay* done) {
    auto& object = *static_cast<polysome::system::LibraryObject*>(system);
    *done = polysome::bench::replay(object.system.device(), {frames, n});
}
