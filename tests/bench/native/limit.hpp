/// What the machine can do at most: independent reads of random lines in batches, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace polysome::bench {

/// `lines` lines of 64 bytes in memory.
class Limit {
  public:
    explicit Limit(uint64_t lines);
    /// Reads one line per element of `flows`, each always the same for the same flow; returns a sum, so that the reads
    /// are needed.
    uint64_t read(std::span<const uint32_t> flows) const;

  private:
    uint64_t lines_;
    const uint64_t* memory_;
};

}  // namespace polysome::bench
