/// The frames that the switch's packet generator makes: one for each queue pair at every sweep (DESIGN 6, rule 4).
#pragma once

#include <array>

#include "nf/bits.hpp"

namespace polysome::system {

/// As a timer of Tofino's generator makes them: `0:3 pipe:2 app:3 | 0:8 | batch:16 | packet:16`, then zeros up to 60
/// bytes. The number of the packet in its batch is the queue pair's.
inline std::array<uint8_t, 60> sweep_frame(uint16_t qp) {
    std::array<uint8_t, 60> frame{};
    store(frame.data() + 4, qp);
    return frame;
}

}  // namespace polysome::system
