/// How a column is measured: its speed in turns with the others, its slowest batches, its instructions.
#pragma once

#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "instructions.hpp"
#include "say.hpp"

namespace polysome::bench {

/// One repetition of one column.
struct Speed {
    double mpps;    ///< million packets per second of processor time
    double cycles;  ///< of the time stamp counter, per packet, while this process had the core
};

inline double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Lets the column go on for about so many seconds.
inline Speed measure(Column& column, double seconds) {
    constexpr size_t PACKETS = size_t{1} << 14;
    const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t start = __rdtsc();
    double packets = 0;
    do {
        column.pass(PACKETS);
        packets += PACKETS;
    } while (seconds_of(CLOCK_MONOTONIC) - wall < seconds);
    const auto cycles = static_cast<double>(__rdtsc() - start);
    const double own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu, all = seconds_of(CLOCK_MONOTONIC) - wall;
    return {packets / own / 1e6, cycles * own / all / packets};
}

/// Cycles per packet of a batch that is slower than 99 of 100.
inline double slow_batch(Column& column) {
    std::vector<double> cycles(20'000);
    column.time_batches(cycles);
    const auto place = cycles.begin() + static_cast<ptrdiff_t>(cycles.size() / 100 * 99);
    std::nth_element(cycles.begin(), place, cycles.end());
    return *place;
}

using Columns = std::vector<std::pair<std::string, std::unique_ptr<Column>>>;

/// NAME_mpps and NAME_cycles of each repetition, in which the columns take turns; NAME_p99.
inline void measure_all(const Columns& columns, double seconds, size_t repetitions, Said& said) {
    std::vector<std::array<std::vector<double>, 2>> found(columns.size());
    for (size_t i = 0; i < repetitions; ++i) {
        for (size_t c = 0; c < columns.size(); ++c) {
            const Speed speed = measure(*columns[c].second, seconds);
            found[c][0].push_back(speed.mpps);
            found[c][1].push_back(speed.cycles);
        }
    }
    for (size_t c = 0; c < columns.size(); ++c) {
        const auto& [name, column] = columns[c];
        said.numbers(name + "_mpps", found[c][0]);
        said.numbers(name + "_cycles", found[c][1]);
        said.number(name + "_p99", slow_batch(*column));
        said.number(name + "_batch", static_cast<double>(column->batch_size()));
        said.number(name + "_resident", static_cast<double>(column->resident));
        said.number(name + "_emitted", static_cast<double>(column->emitted()));
    }
}

/// NAME_instructions, and whether they were `counted` by the processor (1) or by single steps (0).
inline void count_all(const Columns& columns, Said& said) {
    const int counter = open_counter();
    said.number("counted", counter >= 0);
    for (const auto& [name, column] : columns) {
        said.number(name + "_instructions", instructions(*column, counter));
    }
}

}  // namespace polysome::bench
