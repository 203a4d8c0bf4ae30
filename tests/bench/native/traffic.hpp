/// The traffic of the bench: 64-byte Ethernet/IPv4 frames, TCP and UDP in turns, made once per run.
///
/// A flow is a number; its addresses and ports follow from it, so frames can be made anew at any time. `trace` holds
/// the frames in the order of arrival, so that reading them is a walk through memory, as a NIC's DMA leaves them;
/// whoever measures copies a batch of them first, and every column does so alike. All checksums are right.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace polysome::bench {

inline constexpr size_t FRAME = 64;             ///< bytes, without the frame check sequence
inline constexpr size_t MOST = 128;             ///< packets in a batch
inline constexpr uint64_t NS_PER_PACKET = 100;  ///< time that passes per packet: 10 Mpps

using Frame = std::array<uint8_t, FRAME>;

inline constexpr uint8_t TCP = 6, UDP = 17;
inline constexpr uint8_t SYN = 2, ACK = 16;

inline constexpr uint8_t DROP = 0xff;

/// A packet at a network function, which may change its bytes.
struct Packet {
    uint8_t* data = nullptr;
    uint16_t size = 0;
    uint8_t port = 0;    ///< it came from
    uint8_t out = DROP;  ///< it goes to
};

/// Takes a packet that a network function made, and when (ns).
using Emit = void (*)(void* to, uint64_t time, std::span<const uint8_t> bytes);

/// Addresses and ports in host order.
struct Tuple {
    uint32_t src = 0, dst = 0;
    uint16_t sport = 0, dport = 0;
    uint8_t protocol = 0;

    Tuple reversed() const { return {dst, src, dport, sport, protocol}; }
};

/// Spreads numbers: neighbours get addresses that have nothing to do with each other. A bijection of 24 bits.
inline uint32_t scatter(uint32_t flow) { return (flow * 0x9e3779b1u) & 0xffffff; }

/// The flow from the side that opens it. Sources differ: 10.0.0.0/8 has room for 2^24 flows.
inline Tuple tuple_of(uint32_t flow, uint32_t destination) {
    const uint32_t n = scatter(flow);
    const uint32_t dst = destination ? destination : 0xc6120000u | (n * 2654435761u >> 15);  // 198.18.0.0/15
    return {0x0a000000u | n, dst, static_cast<uint16_t>(1024 + n % 60000), static_cast<uint16_t>(n % 5 ? 443 : 80),
            flow % 2 ? TCP : UDP};
}

inline void store16(uint8_t* p, uint32_t value) {
    p[0] = static_cast<uint8_t>(value >> 8);
    p[1] = static_cast<uint8_t>(value);
}
inline void store32(uint8_t* p, uint32_t value) {
    store16(p, value >> 16);
    store16(p + 2, value);
}
inline uint16_t load16(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }
inline uint32_t load32(const uint8_t* p) { return uint32_t{load16(p)} << 16 | load16(p + 2); }

/// The one's complement sum of big-endian 16-bit words (RFC 1071), not yet folded; `bytes` is even.
inline uint64_t sum_words(const uint8_t* p, size_t bytes, uint64_t sum = 0) {
    for (size_t i = 0; i < bytes; i += 2) sum += load16(p + i);
    return sum;
}
inline uint16_t checksum(uint64_t sum) {
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

/// Puts both checksums of a frame as below right.
inline void seal(uint8_t* frame) {
    uint8_t* ip = frame + 14;
    uint8_t* l4 = ip + 20;
    const uint32_t size = FRAME - 34;
    uint8_t* sum = l4 + (ip[9] == TCP ? 16 : 6);
    store16(ip + 10, 0);
    store16(ip + 10, checksum(sum_words(ip, 20)));
    store16(sum, 0);
    const uint16_t right = checksum(sum_words(l4, size, sum_words(ip + 12, 8, ip[9] + size)));
    store16(sum, right == 0 && ip[9] == UDP ? 0xffff : right);  // 0 says that there is none (RFC 768)
}

/// A frame of 64 bytes; `flags` are those of TCP.
inline Frame make_frame(const Tuple& t, uint8_t flags = ACK) {
    Frame f{};
    static constexpr std::array<uint8_t, 14> ethernet{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    std::memcpy(f.data(), ethernet.data(), ethernet.size());
    uint8_t* ip = f.data() + 14;
    ip[0] = 0x45;
    store16(ip + 2, FRAME - 14);
    ip[8] = 64;
    ip[9] = t.protocol;
    store32(ip + 12, t.src);
    store32(ip + 16, t.dst);
    uint8_t* l4 = ip + 20;
    store16(l4, t.sport);
    store16(l4 + 2, t.dport);
    if (t.protocol == TCP) {
        store32(l4 + 4, t.src * 31 + t.sport);
        l4[12] = 0x50;
        l4[13] = flags;
        store16(l4 + 14, 0xffff);
    } else {
        store16(l4 + 4, FRAME - 34);
    }
    for (size_t i = 54; i < FRAME; ++i) f[i] = static_cast<uint8_t>(i);
    seal(f.data());
    return f;
}

/// Ranks 0 to n - 1 with probabilities like 1/(rank + 1)^s, s != 1, by rejection-inversion (Hörmann and Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", TOMACS 1996). O(1) per rank.
class Zipf {
  public:
    Zipf(uint64_t n, double s) : n_(static_cast<double>(n)), s_(s) {
        low_ = integral(1.5) - 1;
        high_ = integral(n_ + 0.5);
        near_ = 2 - inverse(integral(2.5) - std::pow(2, -s));
    }
    template <class Random>
    uint64_t operator()(Random& random) const {
        for (;;) {
            const double u = std::uniform_real_distribution<double>(low_, high_)(random);
            const double x = inverse(u);
            const double k = std::min(std::max(std::floor(x + 0.5), 1.0), n_);
            if (k - x <= near_ || u >= integral(k + 0.5) - std::pow(k, -s_)) return static_cast<uint64_t>(k) - 1;
        }
    }

  private:
    double integral(double x) const { return (std::pow(x, 1 - s_) - 1) / (1 - s_); }
    double inverse(double y) const { return std::pow(1 + y * (1 - s_), 1 / (1 - s_)); }
    double n_, s_, low_ = 0, high_ = 0, near_ = 0;
};

/// Which flow each packet belongs to. Flow numbers are scattered over addresses anyway, so rank and number may agree.
inline std::vector<uint32_t> make_order(uint32_t flows, bool zipf) {
    const size_t count = std::max<size_t>(size_t{1} << 21, size_t{flows} * 2);
    std::vector<uint32_t> order(count);
    std::mt19937_64 random(1);
    const Zipf ranks(flows, 1.1);
    for (uint32_t& flow : order) {
        flow = static_cast<uint32_t>(zipf ? ranks(random) : random() % flows);
    }
    return order;
}

}  // namespace polysome::bench
