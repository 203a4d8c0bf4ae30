// The network interfaces in the ports of the soft switch.
#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control.pb.h"
#include "control/log.hpp"
#include "host/af_packet.hpp"
#include "switch/traffic_manager.hpp"

namespace polysome::soft_switch {

/// Frames in, frames out, and what became of them. An interface may go and come back at any time: that is said once,
/// and its frames are lost meanwhile.
class Ports {
  public:
    /// Failure(2) if the configuration contradicts itself; host::Failure(3) if an interface cannot be opened.
    Ports(const control::SwitchConfig& config, control::Log& log) : log_(log) {
        for (const auto& attachment : config.ports()) {
            check(attachment);
            Port& port = ports_.emplace_back();
            port.number = static_cast<std::uint16_t>(attachment.port());
            port.interface = std::make_unique<host::Interface>(attachment.interface());
            at_[port.number] = &port;
            polled_.push_back({port.interface->descriptor(), POLLIN, 0});
        }
        look();
    }

    /// To be polled, one for each interface; then receive().
    std::span<const pollfd> polled() const { return polled_; }

    /// receive(port, frame) for the frames that wait, at most 32 of each interface; `found`: polled() after poll().
    template <class F>
    void receive(std::span<const pollfd> found, F&& receive) {
        bool broken = false;
        for (std::size_t i = 0; i < ports_.size(); ++i) {
            if (found[i].revents == 0) continue;
            broken |= (found[i].revents & POLLERR) != 0;
            Port& port = ports_[i];
            const std::size_t n = port.interface->receive(0, port.number, arrivals_.data());
            for (const Arrival& arrival : std::span(arrivals_.data(), n)) {
                ++port.frames_in;
                port.bytes_in += arrival.size;
                receive(port.number, std::span<const std::uint8_t>(arrival.data, arrival.size));
            }
        }
        if (broken) look();
    }

    /// A frame leaves by a port; its interface gets it at the next flush(), or before.
    void transmit(std::uint16_t number, std::span<const std::uint8_t> frame) {
        Port* const port = at_[number];
        if (port == nullptr) {
            ++nowhere_[number];
        } else {
            port->interface->send(frame);
        }
    }
    void flush() {
        for (Port& port : ports_) port.interface->flush();
    }

    /// To be called several times a second: takes up interfaces that are back.
    void look() {
        for (Port& port : ports_) {
            port.lost += port.interface->lost();
            const Link link = port.interface->look();
            if (link == port.link) continue;
            const std::string what =
                "port " + std::to_string(port.number) + ": interface " + port.interface->name() + " is ";
            if (link == Link::up) {
                log_.info(what + "up");
            } else {
                log_.warning(what + (link == Link::down ? "down" : "gone") + ": its frames are lost until it is back");
            }
            port.link = link;
        }
    }

    /// Of the port: all but what was lost in its queues.
    void describe(std::uint16_t number, control::PortStatistics& to) const {
        to.set_port(number);
        to.set_dropped(nowhere_[number]);
        const Port* const port = at_[number];
        if (port == nullptr) return;
        to.set_interface(port->interface->name());
        to.set_up(port->link == Link::up);
        to.set_frames_in(port->frames_in);
        to.set_bytes_in(port->bytes_in);
        to.set_frames_out(port->interface->sent);
        to.set_bytes_out(port->interface->sent_bytes);
        to.set_dropped(port->interface->unsent);
    }
    bool attached(std::uint16_t number) const { return at_[number] != nullptr; }

    std::uint64_t nowhere() const {  ///< frames to ports without an interface
        std::uint64_t sum = 0;
        for (const std::uint64_t n : nowhere_) sum += n;
        return sum;
    }
    std::uint64_t unsent() const {
        return sum([](const Port& port) { return port.interface->unsent; });
    }
    std::uint64_t lost() const {
        return sum([](const Port& port) { return port.lost; });
    }
    std::uint64_t truncated() const {
        return sum([](const Port& port) { return port.interface->truncated; });
    }

  private:
    using Link = host::Interface::Link;
    struct Port {
        std::uint16_t number = 0;
        std::unique_ptr<host::Interface> interface;
        Link link = Link::up;
        std::uint64_t frames_in = 0, bytes_in = 0;
        std::uint64_t lost = 0;
    };

    void check(const control::Attachment& attachment) const {
        const std::string what = "ports: port " + std::to_string(attachment.port());
        if (attachment.port() >= p4::ports)
            throw control::Failure(2, what + ": the switch has ports 0 to " + std::to_string(p4::ports - 1));
        if (attachment.interface().empty()) throw control::Failure(2, what + " has no interface");
        if (at_[attachment.port()] != nullptr) throw control::Failure(2, what + " has two interfaces");
        for (const Port& other : ports_)
            if (other.interface->name() == attachment.interface())
                throw control::Failure(2, "ports: interface " + attachment.interface() + " is in ports " +
                                              std::to_string(other.number) + " and " +
                                              std::to_string(attachment.port()));
    }
    template <class F>
    std::uint64_t sum(F&& of) const {
        std::uint64_t sum = 0;
        for (const Port& port : ports_) sum += of(port);
        return sum;
    }

    control::Log& log_;
    std::deque<Port> ports_;
    std::array<Port*, p4::ports> at_{};
    std::array<std::uint64_t, p4::ports> nowhere_{};
    std::vector<pollfd> polled_;
    std::array<Arrival, host::Interface::batch> arrivals_;
};

}  // namespace polysome::soft_switch
