/// What the machine can do at most: independent reads of random lines, and nothing else.
#pragma once

#include "column.hpp"
#include "machine.hpp"

namespace polysome::bench {

/// Reads one line of 64 bytes per packet from as much memory as is given, but
/// at least four times what the last cache holds: else it would measure that.
class LimitColumn final : public ColumnOf<LimitColumn> {
  public:
    static constexpr size_t BATCH_SIZE = 32;

    explicit LimitColumn(uint64_t bytes)
        : lines_(std::max(bytes, 4 * last_cache()) / 64), memory_(large_array<uint64_t>(lines_ * 8)) {
        for (uint64_t i = 0; i < lines_; ++i) memory_[i * 8] = i;
    }
    uint64_t bytes() const { return lines_ * 64; }

    void batch(std::span<Packet>, uint64_t) override {}
    void step(size_t at) {
        std::array<const uint64_t*, BATCH_SIZE> line;
        for (size_t i = 0; i < BATCH_SIZE; ++i) {
            // The place in the trace counts too: few flows would come back to lines that are in a cache.
            const uint64_t mixed = (trace_->order[at + i] ^ (uint64_t{at + i} << 32)) * 0x9e3779b97f4a7c15;
            line[i] = memory_ + ((((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9 >> 32) * lines_) >> 32) * 8;
            __builtin_prefetch(line[i]);
        }
        uint64_t sum = 0;
        for (const uint64_t* p : line) sum += *p;
        asm volatile("" : : "r"(sum) : "memory");
    }

  private:
    uint64_t lines_;
    uint64_t* memory_;
};

}  // namespace polysome::bench
