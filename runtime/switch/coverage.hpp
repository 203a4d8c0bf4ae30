// What of a translated program was reached: a counter for each outcome, numbered by the compiler (compiler/polysome/p4/
// points.py). Only programs that are translated to be counted have one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace polysome::p4 {

template <std::size_t N>
class Coverage {
  public:
    void count(std::size_t outcome) { ++counts_[outcome]; }
    /// The condition; `outcome` is the number of its being true, and the next one that of its being false.
    bool either(bool condition, std::size_t outcome) {
        ++counts_[outcome + (condition ? 0 : 1)];
        return condition;
    }
    std::span<const std::uint64_t> counts() const { return counts_; }

  private:
    std::array<std::uint64_t, N> counts_{};
};

}  // namespace polysome::p4
