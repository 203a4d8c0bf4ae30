/// RoCEv2 frames (IBTA volume 1, annex A17): Ethernet, IPv4 without options, UDP, BTH, RETH or AETH,
/// payload, pad, ICRC. Requests and responses, for either side.
#pragma once

#include <array>
#include <span>

#include "nf/checksum.hpp"
#include "rdma/headers.hpp"
#include "rdma/icrc.hpp"

namespace polysome::rdma {

using protocol::Ethernet, protocol::Ipv4, protocol::Udp;
using Mac = std::array<uint8_t, 6>;

inline constexpr uint16_t ROCE_PORT = protocol::roce::port;
inline constexpr size_t ETHERNET_SIZE = protocol::Ethernet::size, IPV4_SIZE = protocol::Ipv4::size;
inline constexpr size_t UDP_SIZE = protocol::Udp::size;
inline constexpr size_t BTH_AT = ETHERNET_SIZE + IPV4_SIZE + UDP_SIZE;
inline constexpr size_t EXTENSION_AT = BTH_AT + BTH_SIZE;

/// A frame. `reth` and `aeth` count where the opcode has them.
struct Frame {
    Mac destination{}, source{};
    uint32_t destination_ip = 0, source_ip = 0;
    uint16_t source_port = protocol::roce::source_port;  ///< chosen by the sender, for the hashes of the paths between
    Bth bth;
    Reth reth;
    Aeth aeth;
    std::span<const uint8_t> payload;  ///< without the pad; as long as what it was parsed from
};

/// Why bytes are no frame of ours; `none`: they are.
enum class Flaw : uint8_t {
    none,
    truncated,     ///< shorter than its headers say
    not_roce,      ///< another EtherType, protocol or port
    ip_options,    ///< never on RoCEv2, whose headers have fixed places
    fragment,      ///< likewise
    bad_checksum,  ///< of the IPv4 header; UDP's is not looked at, the ICRC covers more
    bad_length,    ///< lengths of IPv4, UDP, extension headers and pad contradict each other, or no whole words
    bad_version,   ///< of the BTH
};

/// The bytes of the frame that `build` makes of `frame`.
inline size_t frame_size(const Frame& frame) {
    const size_t words = (frame.payload.size() + 3) / 4;
    return EXTENSION_AT + extension_size(frame.bth.opcode) + 4 * words + ICRC_SIZE;
}

/// The IPv4 datagram in a frame that `parse` has accepted; what follows it is Ethernet's padding, or a trailer.
template <class Byte>
std::span<Byte> datagram(std::span<Byte> bytes) {
    return bytes.subspan(ETHERNET_SIZE, Ipv4::total_length::read(bytes.data() + ETHERNET_SIZE));
}

/// Whether Ethernet and IPv4 are as RoCEv2 has them.
inline Flaw ipv4_flaw(std::span<const uint8_t> bytes) {
    if (bytes.size() < ETHERNET_SIZE) return Flaw::truncated;
    if (Ethernet::ether_type::read(bytes.data()) != 0x0800) return Flaw::not_roce;
    if (bytes.size() < ETHERNET_SIZE + IPV4_SIZE) return Flaw::truncated;
    const uint8_t* ip = bytes.data() + ETHERNET_SIZE;
    const uint8_t version_ihl = Ipv4::version_ihl::read(ip);
    if (version_ihl >> 4 != 4 || (version_ihl & 15) < 5) return Flaw::bad_length;
    if ((version_ihl & 15) > 5) return Flaw::ip_options;
    if (checksum({ip, IPV4_SIZE}) != 0) return Flaw::bad_checksum;
    constexpr uint16_t more_fragments_or_offset = 0x3fff;
    if ((Ipv4::fragment::read(ip) & more_fragments_or_offset) != 0) return Flaw::fragment;
    if (Ipv4::protocol::read(ip) != 17) return Flaw::not_roce;
    return Ipv4::total_length::read(ip) > bytes.size() - ETHERNET_SIZE ? Flaw::truncated : Flaw::none;
}

/// Reads a frame, all but its ICRC. O(1). `frame` is whole only if there is no flaw.
inline Flaw parse(std::span<const uint8_t> bytes, Frame& frame) {
    if (const Flaw flaw = ipv4_flaw(bytes); flaw != Flaw::none) return flaw;
    const uint8_t* const p = bytes.data();
    const uint8_t *const ip = p + ETHERNET_SIZE, *const udp = ip + IPV4_SIZE;
    const size_t total = Ipv4::total_length::read(ip);
    if (total < IPV4_SIZE + UDP_SIZE) return Flaw::bad_length;
    if (Udp::dport::read(udp) != ROCE_PORT) return Flaw::not_roce;
    if (Udp::length::read(udp) != total - IPV4_SIZE) return Flaw::bad_length;
    if (total < ICRC_COVERS_AT_LEAST + ICRC_SIZE) return Flaw::bad_length;
    frame.bth = read_bth(p + BTH_AT);
    if (frame.bth.version != 0) return Flaw::bad_version;
    const size_t extension = extension_size(frame.bth.opcode), rest = total - ICRC_COVERS_AT_LEAST - ICRC_SIZE;
    if (rest < extension + frame.bth.pad || (rest - extension) % 4 != 0) return Flaw::bad_length;
    std::memcpy(frame.destination.data(), p, 6);
    std::memcpy(frame.source.data(), p + 6, 6);
    frame.source_ip = Ipv4::src::read(ip);
    frame.destination_ip = Ipv4::dst::read(ip);
    frame.source_port = Udp::sport::read(udp);
    frame.reth = has_reth(frame.bth.opcode) ? read_reth(p + EXTENSION_AT) : Reth{};
    frame.aeth = has_aeth(frame.bth.opcode) ? read_aeth(p + EXTENSION_AT) : Aeth{};
    frame.payload = bytes.subspan(EXTENSION_AT + extension, rest - extension - frame.bth.pad);
    return Flaw::none;
}

/// Writes IPv4 (no fragments, time to live 64) and UDP of a datagram of `total` bytes from byte 14 of `out`.
inline void write_ipv4_udp(uint8_t* out, const Frame& frame, size_t total) {
    uint8_t* const ip = out + ETHERNET_SIZE;
    std::memset(ip, 0, IPV4_SIZE + UDP_SIZE);
    Ipv4::version_ihl::write(ip, 0x45);
    Ipv4::total_length::write(ip, static_cast<uint16_t>(total));
    Ipv4::fragment::write(ip, protocol::roce::fragment);  // "don't fragment": the identification may stay 0 (RFC 6864)
    Ipv4::ttl::write(ip, protocol::roce::ttl);
    Ipv4::protocol::write(ip, 17);
    Ipv4::src::write(ip, frame.source_ip);
    Ipv4::dst::write(ip, frame.destination_ip);
    Ipv4::checksum::write(ip, checksum({ip, IPV4_SIZE}));
    uint8_t* const udp = ip + IPV4_SIZE;
    Udp::sport::write(udp, frame.source_port);
    Udp::dport::write(udp, ROCE_PORT);
    Udp::length::write(udp, static_cast<uint16_t>(total - IPV4_SIZE));  // its checksum stays 0: none
}

/// Writes `frame` to `out`, which has frame_size(frame) bytes or more, and returns how many. The pad follows from the
/// payload, whatever `bth.pad` says; extension bytes that are neither RETH nor AETH are zeros. The payload is at most
/// 64 KB less the headers. O(payload).
inline size_t build(const Frame& frame, std::span<uint8_t> out) {
    const size_t size = frame_size(frame), extension = extension_size(frame.bth.opcode);
    uint8_t* const p = out.data();
    std::memcpy(p, frame.destination.data(), 6);
    std::memcpy(p + 6, frame.source.data(), 6);
    Ethernet::ether_type::write(p, 0x0800);
    write_ipv4_udp(p, frame, size - ETHERNET_SIZE);
    Bth bth = frame.bth;
    bth.pad = static_cast<uint8_t>(-frame.payload.size() & 3);
    write_bth(p + BTH_AT, bth);
    std::memset(p + EXTENSION_AT, 0, extension);
    if (has_reth(bth.opcode)) write_reth(p + EXTENSION_AT, frame.reth);
    if (has_aeth(bth.opcode)) write_aeth(p + EXTENSION_AT, frame.aeth);
    uint8_t* const payload = p + EXTENSION_AT + extension;
    if (!frame.payload.empty()) std::memcpy(payload, frame.payload.data(), frame.payload.size());
    std::memset(payload + frame.payload.size(), 0, bth.pad);
    seal(out.subspan(ETHERNET_SIZE, size - ETHERNET_SIZE));
    return size;
}

/// The ICRC of a RoCE frame, Ethernet without FCS, that a switch's MAC puts behind it; zeros if it is too short for
/// one.
inline void icrc_of(std::span<const uint8_t> frame, uint8_t* to) {
    uint32_t sum = 0;
    if (frame.size() >= ETHERNET_SIZE + ICRC_COVERS_AT_LEAST) sum = icrc(frame.subspan(ETHERNET_SIZE));
    std::memcpy(to, &sum, sizeof sum);  // the host is little-endian
}

}  // namespace polysome::rdma
