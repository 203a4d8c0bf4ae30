// What a generated program and whoever sets up its switch agree on beside tables: what a port is for, and the frames of
// the packet generator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/protocol.hpp"

namespace polysome::p4 {

using protocol::PortRole;

/// What the program is told of a port, as the first 64 bits of its metadata: its role and `index`, else zeros.
inline std::uint64_t port_metadata(PortRole role, std::size_t index) {
    using Metadata = protocol::PortMetadata;
    std::uint8_t bytes[Metadata::size] = {};
    Metadata::role::write(bytes, static_cast<std::uint8_t>(role));
    Metadata::index::write(bytes, static_cast<std::uint8_t>(index));
    return protocol::Field<0, 64>::read(bytes);
}
/// One field of such metadata.
template <class Field>
std::uint8_t of_metadata(std::uint64_t metadata) {
    std::uint8_t bytes[protocol::PortMetadata::size];
    protocol::Field<0, 64>::write(bytes, metadata);
    return Field::read(bytes);
}
inline std::uint8_t role_of(std::uint64_t metadata) { return of_metadata<protocol::PortMetadata::role>(metadata); }
inline std::uint8_t index_of(std::uint64_t metadata) { return of_metadata<protocol::PortMetadata::index>(metadata); }

/// A frame of the packet generator, which makes one for each queue pair at every sweep (DESIGN 6, rule 4). As a timer
/// of Tofino's generator makes them (p4c, tofino1_base.p4), then zeros. The number of the packet in its batch is the
/// queue pair's.
inline std::array<std::uint8_t, protocol::frames::smallest> sweep_frame(std::uint16_t queue_pair) {
    std::array<std::uint8_t, protocol::frames::smallest> frame{};
    protocol::Generator::packet::write(frame.data(), queue_pair);
    return frame;
}

}  // namespace polysome::p4
