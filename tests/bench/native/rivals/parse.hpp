/// Frames as the rivals see them. Nearly all have one shape, which a few compares tell; the others take a longer way.
#pragma once

#include <immintrin.h>

#include "../trace.hpp"

namespace polysome::bench {

/// A 5-tuple as in the packet: bytes 0 src, 4 dst, 8 sport, 10 dport, 12 protocol; the last three are 0.
using FlowKey = __m128i;

inline constexpr uint16_t NOWHERE = 0;

/// Where things are in a frame.
struct View {
    FlowKey key;      ///< zero where there is no such thing; reversed for one of the ports, if it was asked for
    uint16_t l4;      ///< where its header begins, if there is a valid one: TCP or UDP; else NOWHERE
    uint16_t length;  ///< of the packet in bytes, as its headers claim it; what is behind it is padding
    uint8_t protocol;
    bool ip;             ///< is there a valid IPv4 header?
    bool is_short;       ///< less came than the headers claim: it is decided about, and then dropped
    bool later = false;  ///< a fragment that is not the first one
};

namespace parsing {

// The window of 16 bytes from the protocol on: protocol, checksum (2), src, dst, sport, dport, one byte more.
inline constexpr size_t WINDOW = 23;
inline __m128i straight() { return _mm_setr_epi8(3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, -1, -1, -1); }
inline __m128i turned() { return _mm_setr_epi8(7, 8, 9, 10, 3, 4, 5, 6, 13, 14, 11, 12, 0, -1, -1, -1); }

/// Any frame.
[[gnu::noinline]] inline void any(const Packet& packet, bool reversed, View& view) {
    const uint8_t* ip = packet.data + 14;
    view = {_mm_setzero_si128(), NOWHERE, packet.size, 0, false, false, false};
    if (packet.size < 34 || load16(packet.data + 12) != 0x0800 || ip[0] >> 4 != 4) return;
    const uint32_t header = (ip[0] & 15) * 4u, total = load16(ip + 2), there = packet.size - 14u;
    if (header < 20 || header > there || total < header) return;
    view.ip = true;
    view.is_short = total > there;
    view.length = static_cast<uint16_t>(14 + total);
    view.protocol = ip[9];
    view.later = (load16(ip + 6) & 0x1fff) != 0;
    const uint8_t* l4 = ip + header;
    const uint32_t left = std::min(total, there) - header;
    if (!view.later && view.protocol == TCP && left >= 20) {
        const uint32_t size = (l4[12] >> 4) * 4u;
        if (size >= 20 && size <= left) view.l4 = static_cast<uint16_t>(14 + header);
    } else if (!view.later && view.protocol == UDP && left >= 8 && load16(l4 + 4) >= 8) {
        view.l4 = static_cast<uint16_t>(14 + header);
    }
    alignas(16) std::array<uint8_t, 16> window{view.protocol};
    std::memcpy(&window[3], ip + 12, 8);
    if (view.l4 != NOWHERE) std::memcpy(&window[11], l4, 4);
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(window.data()));
    view.key = _mm_shuffle_epi8(all, reversed ? turned() : straight());
}

}  // namespace parsing

/// What stands in a frame.
[[gnu::always_inline]] inline void parse(const Packet& packet, bool reversed, View& view) {
    const uint8_t* f = packet.data;
    // Type, version and header length; and fragments, of which "don't fragment" says nothing.
    uint32_t type, fragments;
    std::memcpy(&type, f + 12, 4);
    std::memcpy(&fragments, f + 20, 4);
    const uint8_t protocol = f[parsing::WINDOW];
    const uint32_t total = load16(f + 16);
    const uint32_t shape = ((type & 0x00ffffff) ^ 0x00450008) | (fragments & 0x0000ffbf);
    const bool tcp = protocol == TCP;
    const uint32_t l4 = tcp ? (f[46] >> 4) * 4u : load16(f + 38);  // TCP's header length, UDP's length
    const bool common = packet.size >= 54 && shape == 0 && (tcp || protocol == UDP) && total + 14 <= packet.size &&
                        total >= (tcp ? 20 + l4 : 28) && l4 >= (tcp ? 20 : 8);
    if (!common) [[unlikely]] {
        parsing::any(packet, reversed, view);
        return;
    }
    const __m128i window = _mm_loadu_si128(reinterpret_cast<const __m128i*>(f + parsing::WINDOW));
    view.key = _mm_shuffle_epi8(window, reversed ? parsing::turned() : parsing::straight());
    view.l4 = 34;
    view.length = static_cast<uint16_t>(14 + total);
    view.protocol = protocol;
    view.ip = true;
    view.is_short = false;
    view.later = false;
}

/// A packet leaves by `port`, without padding; if it is all there.
inline void send(Packet& packet, const View& view, uint8_t port) {
    packet.out = view.is_short ? DROP : port;
    packet.size = view.length;
}

}  // namespace polysome::bench
