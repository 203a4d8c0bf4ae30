// The packet generator of the soft switch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "switch/roles.hpp"
#include "switch/traffic_manager.hpp"

namespace polysome::soft_switch {

using p4::Time;

/// A frame for each of `count` queue pairs every `period` ns, into `port`; no frames at all if either is 0.
struct Sweep {
    std::uint32_t port = 0;
    Time period = 0;
    std::uint32_t count = 0;
};

/// Spreads the frames of a sweep evenly over its period, but wakes its caller only once a millisecond: what is due by
/// then comes together. Who is late by more than a period (and two milliseconds, for short ones) does not get the
/// frames of the rounds it missed.
class Generator {
  public:
    static constexpr Time grain = 1'000'000;
    static constexpr Time least_gap = 1'000;  ///< ns for a frame, on average
    static constexpr Time longest_period = 3'600'000'000'000;

    /// Begins a round at `now`. std::invalid_argument for what no switch can do.
    void set(const Sweep& sweep, Time now) {
        const auto refuse = [](const std::string& why) { throw std::invalid_argument("the generator: " + why); };
        if (sweep.port >= p4::ports) refuse("there is no port " + std::to_string(sweep.port));
        constexpr std::uint32_t most = protocol::Generator::packet::most + 1u;
        if (sweep.count > most) refuse("more than " + std::to_string(most) + " queue pairs, whose number a frame has");
        if (sweep.period > longest_period) refuse("more than an hour for a sweep");
        if (sweep.period != 0 && sweep.period / least_gap < sweep.count)
            refuse("less than " + std::to_string(least_gap) + " ns for a frame");
        sweep_ = sweep;
        round_ = woken_ = now;
        pair_ = 0;
    }

    /// When advance() has something to do; `p4::never` if there is no sweep.
    Time next() const { return runs() ? std::max(due(), woken_ + grain) : p4::never; }

    /// emit(port, frame) for each frame that is due.
    template <class F>
    void advance(Time now, F&& emit) {
        if (next() > now) return;
        woken_ = now;
        if (now - due() > sweep_.period + 2 * grain) round_ = now - offset();
        for (; due() <= now; step()) {
            const auto frame = p4::sweep_frame(static_cast<std::uint16_t>(pair_));
            emit(static_cast<std::uint16_t>(sweep_.port), std::span<const std::uint8_t>(frame));
        }
    }

  private:
    bool runs() const { return sweep_.period != 0 && sweep_.count != 0; }
    Time offset() const { return static_cast<Time>(p4::u128{sweep_.period} * pair_ / sweep_.count); }
    Time due() const { return round_ + offset(); }
    void step() {
        if (++pair_ < sweep_.count) return;
        pair_ = 0;
        round_ += sweep_.period;
    }

    Sweep sweep_;
    Time round_ = 0;  ///< when this one began
    Time woken_ = 0;
    std::uint32_t pair_ = 0;  ///< whose frame is next
};

}  // namespace polysome::soft_switch
