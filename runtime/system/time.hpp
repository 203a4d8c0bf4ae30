/// Virtual time, its arithmetic on a wire, and random numbers that repeat.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "nf/types.hpp"

namespace polysome::system {

using Time = uint64_t;  ///< ns; where it counts from does not matter

inline constexpr Time never = std::numeric_limits<Time>::max();

/// What a frame takes on a wire beside its own bytes: preamble and start (8), checksum (4), gap (12).
inline constexpr uint64_t wire_overhead = 24;
/// The least bytes of a frame without its checksum (IEEE 802.3, 3.2.8); a shorter one is filled up on the wire.
inline constexpr uint64_t smallest_frame = 60;

/// The bytes of wire that a frame of `size` bytes takes.
constexpr uint64_t wire_bytes(uint64_t size) { return (size < smallest_frame ? smallest_frame : size) + wire_overhead; }

/// A sender that puts one frame after the other on a wire of `rate` bit/s. Exact: what a frame takes beyond whole ns is
/// carried over to the next one, as long as the wire does not rest. Rate 0: no time at all.
class Wire {
  public:
    explicit Wire(uint64_t rate) : rate_(rate) {}

    /// When the last bit of a frame that is there at `now` has left.
    Time put(Time now, uint64_t size) {
        if (rate_ == 0) return now;
        if (now >= free_) {
            free_ = now;
            rest_ = 0;
        }
        const uint64_t work = wire_bytes(size) * 8 * 1'000'000'000 + rest_;
        free_ += work / rate_;
        rest_ = work % rate_;
        return free_ + (rest_ != 0);
    }
    /// The bytes that are still to be sent at `now`.
    uint64_t waiting(Time now) const {
        if (rate_ == 0 || now >= free_) return 0;
        return static_cast<uint64_t>(static_cast<u128>(free_ - now) * rate_ / 8'000'000'000);
    }

  private:
    uint64_t rate_;
    Time free_ = 0;
    uint64_t rest_ = 0;  ///< of a ns, in units of 1 / rate
};

/// A generator of its own for each source of chance, so that one fault more does not move the others: xoshiro256**
/// (Blackman and Vigna, 2018), its state from splitmix64 over the seed and the source's name.
class Random {
  public:
    Random(uint64_t seed, std::string_view source) {
        uint64_t x = seed;
        for (const char c : source) x = step(x) ^ static_cast<uint8_t>(c);
        for (uint64_t& word : state_) word = step(x);
    }

    uint64_t next() {
        const uint64_t result = turned(state_[1] * 5, 7) * 9, shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = turned(state_[3], 45);
        return result;
    }
    /// 0 to n - 1; `n` is not 0.
    uint64_t below(uint64_t n) { return static_cast<uint64_t>(static_cast<u128>(next()) * n >> 64); }

  private:
    static uint64_t turned(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }
    static uint64_t step(uint64_t& x) {
        uint64_t z = (x += 0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    uint64_t state_[4];
};

/// Happens with a probability; asks its generator only if that is not 0.
class Chance {
  public:
    Chance(double probability, uint64_t seed, std::string_view source)
        : threshold_(probability <= 0   ? 0
                     : probability >= 1 ? never
                                        : static_cast<uint64_t>(probability * 18446744073709551616.0)),
          random_(seed, source) {}

    bool happens() { return threshold_ != 0 && random_.next() <= threshold_; }
    Random& random() { return random_; }

  private:
    uint64_t threshold_;
    Random random_;
};

/// From `from` to before `to`.
struct Interval {
    Time from;
    Time to;
    bool has(Time t) const { return from <= t && t < to; }
};

}  // namespace polysome::system
