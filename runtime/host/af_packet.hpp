/// One network interface as a port of an NF, by a raw packet socket (packet(7)): no driver, no framework, a copy each
/// way.
///
/// What the kernel took off a frame is put back: the VLAN tag that it keeps apart. Turn off what makes a host see
/// frames that were never on the wire (`ethtool -K IF gro off lro off tso off gso off tx off`): a merged frame is
/// forwarded merged, and one whose checksum the sender's card should have filled in goes on without.
///
/// An interface may go down, or be deleted and made again under its name: look() takes it up again, with the same
/// socket, and needs no right for it.
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "host/common.hpp"

namespace polysome::host {

/// Receives and sends up to 64 frames a system call. Not copyable; closes its socket.
class Interface {
  public:
    static constexpr size_t batch = largest_batch;

    /// Throws Failure(3) if there is no such interface, or no right to open it (CAP_NET_RAW).
    explicit Interface(const std::string& name) : name_(name), buffers_(2 * batch * room) {
        if (name.empty() || name.size() >= IFNAMSIZ || if_nametoindex(name.c_str()) == 0) {
            throw Failure(3, "no network interface `" + name + "`");
        }
        socket_ = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (socket_ < 0) fail("open a raw socket");
        try {
            if (!bind_to(request(SIOCGIFINDEX))) fail("bind");
            set(SOL_PACKET, PACKET_AUXDATA, 1, "see VLAN tags");
            const int bytes = 1 << 25;
            setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);  // as much of it as the system allows
            setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
        } catch (...) {
            close(socket_);
            throw;
        }
        prepare();
    }
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    ~Interface() { close(socket_); }

    int descriptor() const { return socket_; }
    const std::string& name() const { return name_; }

    enum class Link { up, down, gone };  ///< down: not set up, or without a carrier

    /// How the interface is now. If it is another one than before, frames come and go by it from now on.
    Link look() {
        const auto found = request(SIOCGIFINDEX);
        if (!found || (found->ifr_ifindex != bound() && !bind_to(found))) return Link::gone;
        const auto flags = request(SIOCGIFFLAGS);
        if (!flags) return Link::gone;
        constexpr short both = IFF_UP | IFF_RUNNING;
        return (flags->ifr_flags & both) == both ? Link::up : Link::down;
    }

    /// Frames that wait, at most `batch`, valid until the next call; `time` and `port` become those of the arrivals.
    size_t receive(uint64_t time, uint16_t port, Arrival* arrivals) {
        for (size_t i = 0; i < batch; ++i) {
            in_[i].msg_hdr.msg_namelen = sizeof(sockaddr_ll);
            in_[i].msg_hdr.msg_controllen = sizeof(Control);
        }
        const int n = recvmmsg(socket_, in_.data(), batch, MSG_DONTWAIT, nullptr);
        size_t taken = 0;
        for (size_t i = 0; n > 0 && i < static_cast<size_t>(n); ++i) {
            if (from_[i].sll_pkttype == PACKET_OUTGOING) continue;  // our own, and other programs'
            if ((in_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
                ++truncated;
                continue;
            }
            uint8_t* frame = receive_buffer(i);
            uint32_t size = in_[i].msg_len;
            if (const auto* aux = auxiliary(in_[i].msg_hdr); aux != nullptr) frame = tagged(frame, size, *aux);
            arrivals[taken++] = {time, frame, size, port};
        }
        return taken;
    }

    /// Puts a frame into the queue, which flush() sends; sends it itself if the queue is full.
    void send(std::span<const uint8_t> bytes) {
        if (bytes.size() > room - headroom) {
            ++unsent;
            return;
        }
        std::memcpy(send_buffer(queued_), bytes.data(), bytes.size());
        out_vectors_[queued_].iov_len = bytes.size();
        if (++queued_ == batch) flush();
    }

    /// Sends what is queued; frames that the system does not take at once are counted and forgotten.
    void flush() {
        size_t done = 0;
        while (done < queued_) {
            const int n = sendmmsg(socket_, out_.data() + done, static_cast<unsigned>(queued_ - done), MSG_DONTWAIT);
            if (n > 0) {
                for (int i = 0; i < n; ++i) sent_bytes += out_vectors_[done++].iov_len;
                sent += static_cast<size_t>(n);
            } else if (errno != EINTR) {
                ++unsent;  // this frame: the queue of the interface is full, it is down, or the frame is too long
                ++done;
            }
        }
        queued_ = 0;
    }

    /// Frames that the system lost since the last call, for want of room in the socket.
    uint64_t lost() const {
        tpacket_stats counts{};
        socklen_t size = sizeof counts;
        return getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &counts, &size) == 0 ? counts.tp_drops : 0;
    }

    uint64_t truncated = 0;  ///< longer than 64 KiB
    uint64_t unsent = 0;
    uint64_t sent = 0, sent_bytes = 0;

  private:
    static constexpr size_t headroom = 64;  ///< before a received frame: a tag that comes back
    static constexpr size_t room = headroom + (1 << 16);
    union Control {
        cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(tpacket_auxdata))];
    };

    [[noreturn]] void fail(const char* what) const {
        throw Failure(3, "cannot " + std::string(what) + " on " + name_ + ": " + std::strerror(errno));
    }
    template <class T>
    void set(int level, int option, const T& value, const char* what) const {
        if (setsockopt(socket_, level, option, &value, sizeof value) != 0) fail(what);
    }

    /// What the system says of the interface that has the name now; nothing if there is none.
    std::optional<ifreq> request(unsigned long what) const {
        ifreq asked{};
        std::memcpy(asked.ifr_name, name_.c_str(), name_.size());
        if (ioctl(socket_, what, &asked) != 0) return std::nullopt;
        return asked;
    }
    /// Frames of the interface, all of them, come from now on.
    bool bind_to(const std::optional<ifreq>& interface) const {
        if (!interface) return false;
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = interface->ifr_ifindex;
        packet_mreq promiscuous{};
        promiscuous.mr_ifindex = address.sll_ifindex;
        promiscuous.mr_type = PACKET_MR_PROMISC;
        return bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
               setsockopt(socket_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous) == 0;
    }
    /// The interface's index, -1 once it was deleted: the next one may have the same.
    int bound() const {
        sockaddr_ll address{};
        socklen_t size = sizeof address;
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
        return address.sll_ifindex;
    }

    uint8_t* receive_buffer(size_t i) { return buffers_.data() + i * room + headroom; }
    uint8_t* send_buffer(size_t i) { return buffers_.data() + (batch + i) * room; }

    void prepare() {
        for (size_t i = 0; i < batch; ++i) {
            in_vectors_[i] = {receive_buffer(i), room - headroom};
            in_[i] = {};
            in_[i].msg_hdr.msg_iov = &in_vectors_[i];
            in_[i].msg_hdr.msg_iovlen = 1;
            in_[i].msg_hdr.msg_name = &from_[i];
            in_[i].msg_hdr.msg_control = &control_[i];
            out_vectors_[i] = {send_buffer(i), 0};
            out_[i] = {};
            out_[i].msg_hdr.msg_iov = &out_vectors_[i];
            out_[i].msg_hdr.msg_iovlen = 1;
        }
    }

    static const tpacket_auxdata* auxiliary(msghdr& header) {
        for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
            if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA) {
                return reinterpret_cast<const tpacket_auxdata*>(CMSG_DATA(c));
            }
        }
        return nullptr;
    }

    /// The frame with its VLAN tag behind the addresses again.
    static uint8_t* tagged(uint8_t* frame, uint32_t& size, const tpacket_auxdata& aux) {
        if ((aux.tp_status & TP_STATUS_VLAN_VALID) == 0 || size < 12) return frame;
        const uint16_t type = (aux.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? aux.tp_vlan_tpid : ETH_P_8021Q;
        uint8_t* longer = frame - 4;
        std::memmove(longer, frame, 12);
        const uint8_t tag[4] = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type),
                                static_cast<uint8_t>(aux.tp_vlan_tci >> 8), static_cast<uint8_t>(aux.tp_vlan_tci)};
        std::memcpy(longer + 12, tag, 4);
        size += 4;
        return longer;
    }

    std::string name_;
    int socket_ = -1;
    std::vector<uint8_t> buffers_;
    std::array<mmsghdr, batch> in_;
    std::array<mmsghdr, batch> out_;
    std::array<iovec, batch> in_vectors_;
    std::array<iovec, batch> out_vectors_;
    std::array<sockaddr_ll, batch> from_;
    std::array<Control, batch> control_;
    size_t queued_ = 0;
};

}  // namespace polysome::host
