/// The invariant CRC of RoCEv2 over IPv4 (IBTA volume 1, section 7.8.1 and annex A17).
///
/// A CRC-32 over 64 one bits (in the place of InfiniBand's local route header), then the IPv4 datagram up to the ICRC
/// itself, with ones for every field that may change on the way: type of service, time to live, header checksum, UDP
/// checksum, and the byte of the BTH that holds the congestion bits (resv8a). It goes onto the wire with its least
/// significant byte first.
#pragma once

#include <array>
#include <cstring>
#include <span>

#include "protocol/protocol.hpp"
#include "rdma/crc32.hpp"

namespace polysome::rdma {

inline constexpr size_t ICRC_SIZE = protocol::requests::icrc;
/// IPv4 without options, UDP and BTH: the least of a datagram before its ICRC.
inline constexpr size_t ICRC_COVERS_AT_LEAST = protocol::Ipv4::size + protocol::Udp::size + protocol::Bth::size;

/// The state after the 64 ones.
inline constexpr uint32_t ICRC_START = [] {
    uint32_t state = CRC_START;
    for (int byte = 0; byte < 8; ++byte) state = crc_shifted(state ^ 0xff, 8);
    return state;
}();

/// The ICRC of `covered`: a datagram from its IPv4 header, which has no options, up to the ICRC. At least 40 bytes.
inline uint32_t icrc(std::span<const uint8_t> covered) {
    std::array<uint8_t, ICRC_COVERS_AT_LEAST> headers;
    std::memcpy(headers.data(), covered.data(), headers.size());
    using protocol::Bth, protocol::Ipv4, protocol::Udp;
    constexpr size_t service = Ipv4::tos::at, hops = Ipv4::ttl::at, header_checksum = Ipv4::checksum::at;
    constexpr size_t udp_checksum = Ipv4::size + Udp::checksum::at;
    constexpr size_t congestion = Ipv4::size + Udp::size + Bth::reserved::at;
    for (const size_t at : {service, hops, header_checksum, header_checksum + 1, udp_checksum, udp_checksum + 1}) {
        headers[at] = 0xff;
    }
    headers[congestion] = 0xff;
    return ~crc_after(crc_after(ICRC_START, headers), covered.subspan(headers.size()));
}

/// Whether the last four bytes of `datagram`, at least 44 in all, are the ICRC of the others.
inline bool icrc_holds(std::span<const uint8_t> datagram) {
    const uint32_t sum = icrc(datagram.first(datagram.size() - ICRC_SIZE));
    return std::memcmp(&sum, datagram.last(ICRC_SIZE).data(), ICRC_SIZE) == 0;  // the host is little-endian
}

/// Sets the last four bytes of `datagram`, at least 44 in all, to the ICRC of the others.
inline void seal(std::span<uint8_t> datagram) {
    const uint32_t sum = icrc(datagram.first(datagram.size() - ICRC_SIZE));
    std::memcpy(datagram.last(ICRC_SIZE).data(), &sum, ICRC_SIZE);
}

}  // namespace polysome::rdma
