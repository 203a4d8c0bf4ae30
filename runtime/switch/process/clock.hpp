// The soft switch's time.
#pragma once

#include <algorithm>
#include <ctime>

#include "switch/bits.hpp"

namespace polysome::soft_switch {

using p4::Time;

/// Nanoseconds that never run back. They begin at 10 s: past every timeout of the program, whose registers begin as
/// zeros. They pass `slower` times slower than the machine's.
class Clock {
  public:
    explicit Clock(std::uint32_t slower) : slower_(std::max<std::uint32_t>(slower, 1)) {}

    Time now() const { return (monotonic() - start_) / slower_ + first; }

    /// How long the machine takes for so much of this time.
    Time real(Time span) const { return span * slower_; }
    /// How much of this time passes while the machine's does.
    Time own(Time span) const { return span / slower_; }

  private:
    static constexpr Time first = 10'000'000'000;

    static Time monotonic() {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC, &t);
        return static_cast<Time>(t.tv_sec) * 1'000'000'000 + static_cast<Time>(t.tv_nsec);
    }
    std::uint32_t slower_;
    Time start_ = monotonic();
};

}  // namespace polysome::soft_switch
