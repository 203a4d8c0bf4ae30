/// What fuzzers say: what does not hold, and how many frames they have given to what they test.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace fuzz {

using Bytes = std::vector<uint8_t>;
using View = std::span<const uint8_t>;

/// Ends the process with a report, unless `holds`; `frame`: the one that it is about.
inline void check(bool holds, const char* what, View frame = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    for (const uint8_t byte : frame) std::fprintf(stderr, "%02x", byte);
    std::fputs("\n", stderr);
    std::abort();
}

/// Of all inputs; told at the end.
struct Count {
    uint64_t frames = 0;
    ~Count() { std::fprintf(stderr, "frames: %llu\n", static_cast<unsigned long long>(frames)); }
};
inline Count count;

}  // namespace fuzz
