// What a generated program and whoever sets up its switch agree on beside tables: what a port is for, and the frames of
// the packet generator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "switch/bits.hpp"

namespace polysome::p4 {

/// What the program is told of a port by the first bits of its metadata: role:8, index:8, 0:48.
enum class PortRole : std::uint8_t { plain, traffic, nf, server, recirculation, generator, controller };
constexpr std::uint64_t port_metadata(PortRole role, std::size_t index) {
    return std::uint64_t{static_cast<std::uint8_t>(role)} << 56 | std::uint64_t{index & 0xff} << 48;
}
constexpr std::uint8_t role_of(std::uint64_t metadata) { return static_cast<std::uint8_t>(metadata >> 56); }
constexpr std::uint8_t index_of(std::uint64_t metadata) { return static_cast<std::uint8_t>(metadata >> 48); }

/// A frame of the packet generator, which makes one for each queue pair at every sweep (DESIGN 6, rule 4). As a timer
/// of Tofino's generator makes them: `0:3 pipe:2 app:3 | 0:8 | batch:16 | packet:16`, then zeros up to 60 bytes. The
/// number of the packet in its batch is the queue pair's.
inline std::array<std::uint8_t, 60> sweep_frame(std::uint16_t queue_pair) {
    std::array<std::uint8_t, 60> frame{};
    store<2>(frame.data() + 4, queue_pair);
    return frame;
}

}  // namespace polysome::p4
