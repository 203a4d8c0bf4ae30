/// A few protocols for the tests of apply, rebuild and make: links, IPv4, IPv6, UDP and TCP, and a header of odd size.
#pragma once

#include "nf/headers.hpp"

namespace tiny {

using namespace polysome;

constexpr uint64_t quarters(uint64_t header, uint64_t) { return header / 4; }
constexpr uint64_t all(uint64_t header, uint64_t rest) { return header + rest; }
constexpr uint64_t behind(uint64_t, uint64_t rest) { return rest; }

inline constexpr ChecksumShape of_header{.header = true};
inline constexpr ChecksumShape of_all{.header = true, .rest = true};
inline constexpr ChecksumShape of_tcp{.pseudo = true, .header = true, .rest = true};
inline constexpr ChecksumShape of_udp{
    .pseudo = true, .header = true, .rest = true, .zero_is_none = true, .never_zero = true};

enum Header : uint16_t { ETHERNET, VLAN, IPV4, IPV6, UDP, TCP, ICMP, ODD };
enum Instance : uint8_t { ethernet, vlan, ipv4, ipv6, udp, tcp, icmp, quoted_ipv4, quoted_udp, odd, instances };

inline constexpr FieldShape ethernet_fields[] = {
    {.name = "dst", .offset = 0, .width = 48},
    {.name = "src", .offset = 48, .width = 48},
    {.name = "ether_type", .offset = 96, .width = 16, .next = 0},
};
inline constexpr FieldShape vlan_fields[] = {
    {.name = "pcp", .offset = 0, .width = 3},
    {.name = "dei", .offset = 3, .width = 1},
    {.name = "vid", .offset = 4, .width = 12, .initial = 1},
    {.name = "ether_type", .offset = 16, .width = 16, .next = 0},
};
inline constexpr FieldShape ipv4_fields[] = {
    {.name = "version", .offset = 0, .width = 4, .initial = 4},
    {.name = "ihl", .offset = 4, .width = 4, .length = quarters},
    {.name = "dscp", .offset = 8, .width = 6},
    {.name = "ecn", .offset = 14, .width = 2},
    {.name = "total_length", .offset = 16, .width = 16, .length = all},
    {.name = "identification", .offset = 32, .width = 16},
    {.name = "flags", .offset = 48, .width = 16},
    {.name = "ttl", .offset = 64, .width = 8, .initial = 64},
    {.name = "protocol", .offset = 72, .width = 8, .next = 1},
    {.name = "checksum", .offset = 80, .width = 16, .checksum = &of_header},
    {.name = "src", .offset = 96, .width = 32},
    {.name = "dst", .offset = 128, .width = 32},
};
inline constexpr FieldShape ipv6_fields[] = {
    {.name = "version", .offset = 0, .width = 4, .initial = 6},
    {.name = "class", .offset = 4, .width = 28},
    {.name = "payload_length", .offset = 32, .width = 16, .length = behind},
    {.name = "next_header", .offset = 48, .width = 8, .next = 1},
    {.name = "hop_limit", .offset = 56, .width = 8, .initial = 64},
    {.name = "src", .offset = 64, .width = 128},
    {.name = "dst", .offset = 192, .width = 128},
};
inline constexpr FieldShape udp_fields[] = {
    {.name = "sport", .offset = 0, .width = 16},
    {.name = "dport", .offset = 16, .width = 16},
    {.name = "length", .offset = 32, .width = 16, .length = all},
    {.name = "checksum", .offset = 48, .width = 16, .checksum = &of_udp},
};
inline constexpr FieldShape tcp_fields[] = {
    {.name = "sport", .offset = 0, .width = 16},
    {.name = "dport", .offset = 16, .width = 16},
    {.name = "sequence", .offset = 32, .width = 32},
    {.name = "acknowledgement", .offset = 64, .width = 32},
    {.name = "data_offset", .offset = 96, .width = 4, .length = quarters},
    {.name = "flags", .offset = 100, .width = 12},
    {.name = "window", .offset = 112, .width = 16},
    {.name = "checksum", .offset = 128, .width = 16, .checksum = &of_tcp},
    {.name = "urgent", .offset = 144, .width = 16},
};
inline constexpr FieldShape icmp_fields[] = {
    {.name = "type", .offset = 0, .width = 8},
    {.name = "code", .offset = 8, .width = 8},
    {.name = "checksum", .offset = 16, .width = 16, .checksum = &of_all},
    {.name = "unused", .offset = 32, .width = 32},
};
/// 21 bytes: a field over 17 bytes, and one of a byte's last bit and the next one's first 7.
inline constexpr FieldShape odd_fields[] = {
    {.name = "first", .offset = 0, .width = 7},
    {.name = "wide", .offset = 7, .width = 128},
    {.name = "last", .offset = 135, .width = 8},
    {.name = "end", .offset = 143, .width = 25},
};

inline constexpr uint16_t ipv4_pseudo[] = {10, 11}, ipv6_pseudo[] = {5, 6};
inline constexpr uint16_t ipv4_sums[] = {9}, udp_sums[] = {3}, tcp_sums[] = {7}, icmp_sums[] = {2};
inline constexpr HeaderShape headers[] = {
    {.name = "ethernet", .fixed = 14, .fields = ethernet_fields, .pseudo = {}, .checksums = {}, .next = 2},
    {.name = "vlan", .fixed = 4, .fields = vlan_fields, .pseudo = {}, .checksums = {}, .next = 3},
    {.name = "ipv4", .fixed = 20, .fields = ipv4_fields, .pseudo = ipv4_pseudo, .checksums = ipv4_sums, .next = 8},
    {.name = "ipv6", .fixed = 40, .fields = ipv6_fields, .pseudo = ipv6_pseudo, .checksums = {}, .next = 3},
    {.name = "udp", .fixed = 8, .fields = udp_fields, .pseudo = {}, .checksums = udp_sums},
    {.name = "tcp", .fixed = 20, .fields = tcp_fields, .pseudo = {}, .checksums = tcp_sums},
    {.name = "icmp", .fixed = 8, .fields = icmp_fields, .pseudo = {}, .checksums = icmp_sums},
    {.name = "odd", .fixed = 21, .fields = odd_fields, .pseudo = {}, .checksums = {}},
};
inline constexpr InstanceShape instance_shapes[] = {
    {.name = "ethernet", .header = ETHERNET},
    {.name = "vlan", .header = VLAN},
    {.name = "ipv4", .header = IPV4},
    {.name = "ipv6", .header = IPV6},
    {.name = "udp", .header = UDP},
    {.name = "tcp", .header = TCP},
    {.name = "icmp", .header = ICMP},
    {.name = "quoted.ipv4", .header = IPV4, .quote = true},
    {.name = "quoted.udp", .header = UDP, .quote = true},
    {.name = "odd", .header = ODD},
};
inline constexpr NextNumber types[] = {
    {.header = IPV4, .number = 0x0800}, {.header = VLAN, .number = 0x8100}, {.header = IPV6, .number = 0x86dd}};
inline constexpr NextNumber numbers[] = {{.header = ICMP, .number = 1},
                                         {.header = IPV4, .number = 4},
                                         {.header = TCP, .number = 6},
                                         {.header = UDP, .number = 17},
                                         {.header = IPV6, .number = 41}};
inline constexpr std::span<const NextNumber> enums[] = {types, numbers};
inline constexpr Protocols protocols{.headers = headers, .instances = instance_shapes, .enums = enums};

}  // namespace tiny
