/// What the kernel must know of the switch, which answers no ARP: that its IP address is on the link of this interface,
/// and its MAC address, for good (rtnetlink(7)). A queue pair's way to RTR asks the kernel for both.
#pragma once

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rdma/agent/addresses.hpp"

namespace polysome::agent {

using Message = std::vector<uint8_t>;

namespace detail {

/// A request to make or replace something, `header` behind its own. Netlink is in host order, its attributes' addresses
/// are not.
template <class Header>
Message netlink_request(uint16_t type, const Header& header) {
    Message message(NLMSG_SPACE(sizeof header));
    nlmsghdr outer{};
    outer.nlmsg_len = static_cast<uint32_t>(message.size());
    outer.nlmsg_type = type;
    outer.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    std::memcpy(message.data(), &outer, sizeof outer);
    std::memcpy(message.data() + NLMSG_HDRLEN, &header, sizeof header);
    return message;
}

inline void add_attribute(Message& message, uint16_t type, const void* value, size_t size) {
    const size_t at = message.size();
    message.resize(at + RTA_SPACE(size));
    const rtattr attribute{static_cast<unsigned short>(RTA_LENGTH(size)), type};
    std::memcpy(message.data() + at, &attribute, sizeof attribute);
    std::memcpy(message.data() + at + RTA_LENGTH(0), value, size);
    const auto total = static_cast<uint32_t>(message.size());
    std::memcpy(message.data(), &total, sizeof total);  // nlmsg_len is its first field
}

}  // namespace detail

/// `ip neigh replace IP lladdr MAC nud permanent dev INTERFACE`
inline Message neighbour_message(unsigned interface, uint32_t ip, const Mac& mac) {
    ndmsg header{};
    header.ndm_family = AF_INET;
    header.ndm_ifindex = static_cast<int>(interface);
    header.ndm_state = NUD_PERMANENT;
    Message message = detail::netlink_request(RTM_NEWNEIGH, header);
    const uint32_t address = htonl(ip);
    detail::add_attribute(message, NDA_DST, &address, sizeof address);
    detail::add_attribute(message, NDA_LLADDR, mac.data(), mac.size());
    return message;
}

/// `ip route replace IP/32 dev INTERFACE scope link`
inline Message route_message(unsigned interface, uint32_t ip) {
    rtmsg header{};
    header.rtm_family = AF_INET;
    header.rtm_dst_len = 32;
    header.rtm_table = RT_TABLE_MAIN;
    header.rtm_protocol = RTPROT_STATIC;
    header.rtm_scope = RT_SCOPE_LINK;
    header.rtm_type = RTN_UNICAST;
    Message message = detail::netlink_request(RTM_NEWROUTE, header);
    const uint32_t address = htonl(ip);
    detail::add_attribute(message, RTA_DST, &address, sizeof address);
    detail::add_attribute(message, RTA_OIF, &interface, sizeof interface);
    return message;
}

/// Has the kernel do it. Failure(3) with its reason if it does not; `what` is done, in words.
inline void tell_kernel(const Message& message, const std::string& what) {
    const auto failed = [&what](int error) {
        return Failure(3,
                       "cannot " + what + ": " + std::strerror(error) + (error == EPERM ? "; start it as root" : ""));
    };
    const int socket_ = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (socket_ < 0) throw failed(errno);
    alignas(nlmsghdr) uint8_t answer[1024];
    const bool sent = ::send(socket_, message.data(), message.size(), 0) == static_cast<ssize_t>(message.size());
    const ssize_t got = sent ? ::recv(socket_, answer, sizeof answer, 0) : -1;
    const int system_error = errno;
    close(socket_);
    if (got < static_cast<ssize_t>(NLMSG_SPACE(sizeof(nlmsgerr)))) throw failed(got < 0 ? system_error : EPROTO);
    nlmsgerr result;
    std::memcpy(&result, answer + NLMSG_HDRLEN, sizeof result);
    if (result.error != 0) throw failed(-result.error);
}

/// Makes the switch reachable by the interface, without ARP. Needs CAP_NET_ADMIN. It stays when the agent ends.
inline void introduce_switch(const Station& station, uint32_t ip, const Mac& mac) {
    const std::string where = text_of(ip) + " by " + station.name();
    tell_kernel(route_message(station.index(), ip), "make a route to the switch, " + where);
    tell_kernel(neighbour_message(station.index(), ip, mac), "name the switch's MAC address, " + where);
}

}  // namespace polysome::agent
