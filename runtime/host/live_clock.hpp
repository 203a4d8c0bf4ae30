/// The NF's time where packets are live.
#pragma once

#include <cstdint>
#include <ctime>

namespace polysome::host {

/// Nanoseconds since 1970 that never run back: the system's clock at the start, a monotonic one from there.
class LiveClock {
  public:
    LiveClock() : offset_(read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC)) {}
    uint64_t now() const { return offset_ + read(CLOCK_MONOTONIC); }

    /// Of 1970 before the monotonic clock's zero, in ns: with it, another process of this machine goes on.
    uint64_t offset() const { return offset_; }
    void go_on(uint64_t offset) { offset_ = offset; }

  private:
    static uint64_t read(clockid_t clock) {
        timespec t{};
        clock_gettime(clock, &t);
        return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
    }
    uint64_t offset_;
};

}  // namespace polysome::host
