/// Which frames a raw socket takes from its interface: classic BPF (socket(7), SO_ATTACH_FILTER), so that the machine's
/// own traffic on that interface never reaches the agent.
#pragma once

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "rdma/agent/device.hpp"

namespace polysome::agent {

/// Incoming RoCEv2 frames to `ip`: IPv4 and UDP to RoCE's port, no later fragment. Whether they are well formed is for
/// the responder to judge and to count.
constexpr std::array<sock_filter, 15> roce_filter(uint32_t ip) {
    constexpr uint16_t load_byte = BPF_LD | BPF_B | BPF_ABS, load_half = BPF_LD | BPF_H | BPF_ABS;
    constexpr uint16_t equal = BPF_JMP | BPF_JEQ | BPF_K, any_bit = BPF_JMP | BPF_JSET | BPF_K;
    constexpr uint32_t packet_type = static_cast<uint32_t>(SKF_AD_OFF) + SKF_AD_PKTTYPE, outgoing = 4;
    using protocol::Ethernet, protocol::Ipv4, protocol::Udp;
    constexpr uint32_t ip_at = rdma::ETHERNET_SIZE;
    return {{
        {load_byte, 0, 0, packet_type},
        {equal, 12, 0, outgoing},
        {load_half, 0, 0, Ethernet::ether_type::at},
        {equal, 0, 10, 0x0800},
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, ip_at + Ipv4::dst::at},
        {equal, 0, 8, ip},
        {load_byte, 0, 0, ip_at + Ipv4::protocol::at},
        {equal, 0, 6, 17},
        {load_half, 0, 0, ip_at + Ipv4::fragment::at},
        {any_bit, 4, 0, 0x1fff},
        {BPF_LDX | BPF_B | BPF_MSH, 0, 0, ip_at},  // the length of the IPv4 header, whatever its options
        {BPF_LD | BPF_H | BPF_IND, 0, 0, ip_at + Udp::dport::at},
        {equal, 0, 1, rdma::ROCE_PORT},
        {BPF_RET | BPF_K, 0, 0, 0xffffffff},
        {BPF_RET | BPF_K, 0, 0, 0},
    }};
}

/// No frame at all.
constexpr std::array<sock_filter, 1> nothing_filter() { return {{{BPF_RET | BPF_K, 0, 0, 0}}}; }

inline void attach_filter(int socket, std::span<const sock_filter> filter) {
    std::array<sock_filter, 16> copy;
    std::memcpy(copy.data(), filter.data(), filter.size_bytes());
    const sock_fprog program{static_cast<unsigned short>(filter.size()), copy.data()};
    if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
        throw Failure(3, "cannot filter a socket: " + std::string(std::strerror(errno)));
    }
}

}  // namespace polysome::agent
