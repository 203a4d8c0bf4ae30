/// The measuring loop that all columns share.
#pragma once

#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <cstddef>
#include <cstdint>

#include "traffic.hpp"

namespace polysome::bench {

inline constexpr size_t BATCHES_PER_ITERATION = 64;

/// Calls `batch(place)` for one batch after the other of `count` packets, again and again, from `cursor` on. Reports
/// packets per second of processor time, and cycles of the time stamp counter for each.
template <class Batch>
void measure(benchmark::State& state, size_t count, size_t& cursor, Batch&& batch) {
    const uint64_t start = __rdtsc();
    for (auto _ : state) {
        for (size_t i = 0; i < BATCHES_PER_ITERATION; ++i) {
            if (cursor + BATCH > count) cursor = 0;
            batch(cursor);
            cursor += BATCH;
        }
    }
    const uint64_t cycles = __rdtsc() - start;
    const auto packets = static_cast<double>(state.iterations() * BATCHES_PER_ITERATION * BATCH);
    state.counters["packets"] = benchmark::Counter(packets, benchmark::Counter::kIsRate);
    state.counters["cycles"] = static_cast<double>(cycles) / packets;
}

}  // namespace polysome::bench
