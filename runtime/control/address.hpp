/// Who is at the other end of a connection, as the kernel and as gRPC say it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace polysome::control {

/// An IPv4 address is the IPv6 one that it is mapped to, on whatever socket it came. All zeros: of no such family.
struct Peer {
    std::array<uint8_t, 16> address{};
    uint16_t port = 0;

    bool operator==(const Peer&) const = default;

    /// What counts as one address. Who has one IPv6 address has all of its /64.
    std::array<uint8_t, 16> network() const {
        in6_addr whole;
        std::memcpy(&whole, address.data(), sizeof whole);
        std::array<uint8_t, 16> found{};
        std::memcpy(found.data(), address.data(), IN6_IS_ADDR_V4MAPPED(&whole) ? sizeof whole : 8);
        return found;
    }
};

inline Peer peer_of(const sockaddr_storage& from) {
    Peer peer;
    if (from.ss_family == AF_INET) {
        const auto& given = reinterpret_cast<const sockaddr_in&>(from);
        peer.address[10] = peer.address[11] = 0xff;
        std::memcpy(peer.address.data() + 12, &given.sin_addr, 4);
        peer.port = ntohs(given.sin_port);
    } else if (from.ss_family == AF_INET6) {
        const auto& given = reinterpret_cast<const sockaddr_in6&>(from);
        std::memcpy(peer.address.data(), &given.sin6_addr, 16);
        peer.port = ntohs(given.sin6_port);
    }
    return peer;
}

/// Of grpc::ServerContext::peer(): "ipv4:192.0.2.1:50000", "ipv6:%5B2001:db8::1%25eth0%5D:50000" or with "[" and "]".
inline std::optional<Peer> peer_of(std::string_view text) {
    sockaddr_storage found{};
    const size_t colon = text.rfind(':'), kind = text.find(':');
    if (kind == colon) return std::nullopt;
    const std::string_view number = text.substr(colon + 1);
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), port);
    if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
    std::string host(text.substr(kind + 1, colon - kind - 1));
    if (text.substr(0, kind) == "ipv4") {
        auto& made = reinterpret_cast<sockaddr_in&>(found);
        made.sin_port = htons(port);
        found.ss_family = AF_INET;
        if (inet_pton(AF_INET, host.c_str(), &made.sin_addr) != 1) return std::nullopt;
    } else if (text.substr(0, kind) == "ipv6") {
        for (const std::string_view open : {"%5B", "["}) {
            if (host.starts_with(open)) host.erase(0, open.size());
        }
        host.resize(std::min({host.size(), host.find('%'), host.find(']')}));  // a scope, or the bracket's end
        auto& made = reinterpret_cast<sockaddr_in6&>(found);
        made.sin6_port = htons(port);
        found.ss_family = AF_INET6;
        if (inet_pton(AF_INET6, host.c_str(), &made.sin6_addr) != 1) return std::nullopt;
    } else {
        return std::nullopt;
    }
    return peer_of(found);
}

}  // namespace polysome::control
