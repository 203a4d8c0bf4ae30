/// Frames of tiny_protocols.hpp's headers, and their checksums computed apart from the runtime.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "nf/bits.hpp"
#include "nf/packet.hpp"
#include "tiny_protocols.hpp"

namespace tiny {

using Bytes = std::vector<uint8_t>;
using Placed = Parsed<instances>;

/// Bytes from hexadecimal digits; spaces do not count.
inline Bytes hex(std::string_view text) {
    Bytes bytes;
    int high = -1;
    for (const char c : text) {
        if (c == ' ') continue;
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        if (high >= 0) bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
        high = high >= 0 ? -1 : digit;
    }
    return bytes;
}

inline Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// RFC 1071 word by word.
inline uint16_t sum_of(const Bytes& bytes) {
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes.size(); ++i) sum += uint64_t{bytes[i]} << (i % 2 == 0 ? 8 : 0);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(0xffff - sum);
}

inline void put16(Bytes& bytes, size_t at, uint16_t value) {
    bytes[at] = static_cast<uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<uint8_t>(value);
}
inline Bytes part(const Bytes& bytes, size_t from, size_t to) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to)};
}

/// Sets the checksum of the IPv4 header at byte `at`.
inline void seal_ipv4(Bytes& bytes, size_t at) {
    put16(bytes, at + 10, 0);
    put16(bytes, at + 10, sum_of(part(bytes, at, at + 20)));
}
/// Sets the checksum at byte `field` of what begins at byte `at` and ends at `end`, below the IPv4 header at `ip`.
inline void seal(Bytes& bytes, size_t ip, size_t at, size_t field, size_t end) {
    put16(bytes, field, 0);
    Bytes covered = part(bytes, ip + 12, ip + 20) + Bytes{0, bytes[ip + 9]} + part(bytes, at, end);
    Bytes length(2);
    put16(length, 0, static_cast<uint16_t>(end - at));
    put16(bytes, field, sum_of(length + covered));
}

inline const Bytes layer2 = hex("020000000002 020000000001 0800");

/// An IPv4 header with a checksum, before `behind` bytes of the protocol.
inline Bytes ip4(size_t behind, uint8_t protocol, std::string_view addresses = "0a000001 0a000002") {
    Bytes bytes = hex("4500 0000 1234 4000 40 00 0000") + hex(addresses);
    put16(bytes, 2, static_cast<uint16_t>(20 + behind));
    bytes[9] = protocol;
    seal_ipv4(bytes, 0);
    return bytes;
}
inline Bytes udp_header(size_t payload) {
    Bytes bytes = hex("03e8 0050 0000 0000");
    put16(bytes, 4, static_cast<uint16_t>(8 + payload));
    return bytes;
}
inline Bytes tcp_header() { return hex("03e8 0050 00000001 00000002 5010 2000 0000 0000"); }

/// Ethernet, IPv4, UDP with right checksums.
inline Bytes udp_frame(const Bytes& payload) {
    Bytes bytes = layer2 + ip4(8 + payload.size(), 17) + udp_header(payload.size()) + payload;
    seal(bytes, 14, 34, 40, bytes.size());
    return bytes;
}
inline Bytes tcp_frame(const Bytes& payload) {
    Bytes bytes = layer2 + ip4(20 + payload.size(), 6) + tcp_header() + payload;
    seal(bytes, 14, 34, 50, bytes.size());
    return bytes;
}

/// What the frame's headers are: one behind the other, each of its fixed size. `end` 0: the frame's.
inline Placed parse(const Bytes& frame, std::initializer_list<uint8_t> path, uint32_t end = 0) {
    Placed p;
    p.begin(frame.data(), static_cast<uint32_t>(frame.size()), 0);
    if (end != 0) p.narrow(end);
    for (const uint8_t i : path) {
        const uint32_t fixed = protocols.headers[protocols.instances[i].header].fixed;
        if (p.room - p.pos < fixed) {
            p.take_cut(i);
        } else {
            p.take(i, fixed);
            p.limit[i] = p.room;
        }
    }
    p.payload = p.pos;
    return p;
}

}  // namespace tiny
