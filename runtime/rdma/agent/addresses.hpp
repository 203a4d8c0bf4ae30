/// MAC and IPv4 addresses as text, and those of a network interface. IPv4 addresses are in host order.
#pragma once

#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>

#include "rdma/agent/device.hpp"

namespace polysome::agent {

/// "02:70:6f:6c:79:01"; nothing if the text is no such address.
inline std::optional<Mac> mac_of(const std::string& text) {
    Mac mac{};
    if (text.size() != 3 * mac.size() - 1) return {};
    for (size_t i = 0; i < mac.size(); ++i) {
        const char* const digits = text.data() + 3 * i;
        const auto [end, error] = std::from_chars(digits, digits + 2, mac[i], 16);
        if (error != std::errc{} || end != digits + 2 || (i > 0 && digits[-1] != ':')) return {};
    }
    return mac;
}

/// "198.19.255.254"; nothing if the text is no such address.
inline std::optional<uint32_t> ip_of(const std::string& text) {
    in_addr address{};
    return inet_pton(AF_INET, text.c_str(), &address) == 1 ? std::optional(ntohl(address.s_addr)) : std::nullopt;
}

inline std::string text_of(const Mac& mac) {
    char text[18];
    std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    return text;
}

inline std::string text_of(uint32_t ip) {
    char text[16];
    std::snprintf(text, sizeof text, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return text;
}

/// A network interface of this machine: what it is called by others, and whether it works.
class Station {
  public:
    /// Failure(3) if there is no such interface, it is no Ethernet, or it has no IPv4 address.
    explicit Station(std::string name) : name_(std::move(name)), index_(if_nametoindex(name_.c_str())) {
        if (index_ == 0) throw Failure(3, "no network interface `" + name_ + "`; `ip link` lists those there are");
        socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (socket_ < 0) throw Failure(3, "no socket: " + std::string(std::strerror(errno)));
        try {
            read_addresses();
        } catch (...) {
            close(socket_);
            throw;
        }
    }
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;
    ~Station() { close(socket_); }

    const std::string& name() const { return name_; }
    unsigned index() const { return index_; }
    const Mac& mac() const { return mac_; }
    uint32_t ip() const { return ip_; }

    /// Bytes of an IPv4 datagram that it carries; 0 if it is gone.
    uint32_t mtu() const {
        ifreq request = asked();
        return ioctl(socket_, SIOCGIFMTU, &request) == 0 ? static_cast<uint32_t>(request.ifr_mtu) : 0;
    }
    /// Up, with a link.
    bool running() const {
        ifreq request = asked();
        constexpr int both = IFF_UP | IFF_RUNNING;
        return present() && ioctl(socket_, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & both) == both;
    }
    /// Still the interface that it was at the start.
    bool present() const { return if_nametoindex(name_.c_str()) == index_; }

  private:
    ifreq asked() const {
        ifreq request{};
        std::strncpy(request.ifr_name, name_.c_str(), sizeof request.ifr_name - 1);
        return request;
    }

    void read_addresses() {
        ifreq request = asked();
        if (ioctl(socket_, SIOCGIFHWADDR, &request) != 0 || request.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
            throw Failure(3, name_ + " is no Ethernet interface");
        }
        std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
        request = asked();
        if (ioctl(socket_, SIOCGIFADDR, &request) != 0) {
            throw Failure(3, name_ + " has no IPv4 address: `ip addr add ADDRESS/LENGTH dev " + name_ + "`");
        }
        sockaddr_in address;
        std::memcpy(&address, &request.ifr_addr, sizeof address);
        ip_ = ntohl(address.sin_addr.s_addr);
    }

    std::string name_;
    unsigned index_;
    int socket_ = -1;
    Mac mac_{};
    uint32_t ip_ = 0;
};

/// Ethernet's payload for a RoCEv2 frame that fills a path MTU: IPv4, UDP, BTH, RETH and ICRC around it.
constexpr uint32_t interface_mtu_for(uint32_t path_mtu) {
    return path_mtu +
           static_cast<uint32_t>(rdma::IPV4_SIZE + rdma::UDP_SIZE + rdma::BTH_SIZE + rdma::RETH_SIZE + rdma::ICRC_SIZE);
}

/// Failure(3) if frames of `path_mtu` do not pass the interface.
inline void need_interface_mtu(const Station& station, uint32_t path_mtu) {
    const uint32_t least = interface_mtu_for(path_mtu), has = station.mtu();
    if (has >= least) return;
    throw Failure(3, station.name() + " has an MTU of " + std::to_string(has) + " bytes, and a path MTU of " +
                         std::to_string(path_mtu) + " needs " + std::to_string(least) + " or more: `ip link set dev " +
                         station.name() + " mtu " + std::to_string(path_mtu == 4096 ? 4200 : least) + "`");
}

}  // namespace polysome::agent
