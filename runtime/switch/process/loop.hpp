// A translated P4 program between network interfaces, in real time: one thread that sleeps when nothing is due.
#pragma once

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "control/mailbox.hpp"
#include "rdma/roce.hpp"
#include "switch/process/clock.hpp"
#include "switch/process/generator.hpp"
#include "switch/process/ports.hpp"
#include "switch/process/requests.hpp"
#include "switch/process/service.hpp"
#include "switch/switch.hpp"

namespace polysome::soft_switch {

/// The switch begins without a port that is set: the controller sets all.
template <class Program>
class Loop final : public Requests {
  public:
    Loop(const control::SwitchConfig& config, control::Log& log) : clock_(config.slower()), ports_(config, log) {
        polled_.assign(ports_.polled().begin(), ports_.polled().end());
        polled_.push_back({mailbox_.descriptor(), POLLIN, 0});
        polled_.push_back({signals_.descriptor(), POLLIN, 0});
    }

    control::Mailbox& mailbox() { return mailbox_; }

    /// Until a signal ends it; commands are answered to the end.
    void run() {
        prctl(PR_SET_TIMERSLACK, 1);  // ns that the system may wake this thread late: queues have their rates
        const Ending ending{mailbox_};
        while (wait()) {
            if (of_mailbox().revents != 0) mailbox_.serve();
            ports_.receive(polled_, [&](std::uint16_t port, std::span<const std::uint8_t> frame) {
                const Time now = clock_.now();
                leave(now);  // what goes round in the switch and was earlier comes before it
                switch_.receive(port, frame, now);
            });
            advance();
        }
    }

    // ------------------------------------------------------------ Requests

    void write(const control::WriteRequest& request) override {
        advance();  // what was due before it leaves by the tables before it
        Change(switch_, generator_, clock_.now()).apply(request);
    }
    void read(const control::ReadRequest& request, control::ReadResponse& response) override {
        Reading(switch_).read(request, response);
    }
    void statistics(control::SwitchStatistics& response) override {
        response.set_time(clock_.now());
        response.set_cell(Program::queue_cell);
        ports_.look();
        for (std::uint16_t port = 0; port < p4::ports; ++port) {
            if (!switch_.is_set(port) && !ports_.attached(port)) continue;
            control::PortStatistics& of_port = *response.add_ports();
            ports_.describe(port, of_port);
            std::uint64_t full = 0;
            for (unsigned queue = 0; queue < p4::queues; ++queue) full += switch_.queue(port, queue).dropped;
            of_port.set_dropped(of_port.dropped() + full);
            const p4::PortConfig& config = switch_.config(port);
            settings(config, of_port);
            of_port.set_append_icrc(config.append_icrc);
            of_port.set_role(p4::role_of(config.metadata));
            of_port.set_index(p4::index_of(config.metadata));
        }
        drops(response);
    }

  private:
    static constexpr Time look_every = 250'000'000;      ///< of the machine's time
    static constexpr Time longest_wait = 1'000'000'000;  ///< of the switch's: no product overflows
    struct Ending {                                      ///< however the loop ends, nobody waits for it
        control::Mailbox& mailbox;
        ~Ending() { mailbox.end(); }
    };

    const pollfd& of_mailbox() const { return polled_[polled_.size() - 2]; }
    const pollfd& of_signals() const { return polled_.back(); }

    /// Until there is something to do; false if that is to end.
    bool wait() {
        const Time due = std::min({switch_.next(), generator_.next(), look_at_});
        const Time now = clock_.now();
        const Time left = due > now ? clock_.real(std::min(due - now, longest_wait)) : 0;
        const timespec time{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
        if (ppoll(polled_.data(), polled_.size(), &time, nullptr) < 0)
            for (pollfd& polled : polled_) polled.revents = 0;
        return of_signals().revents == 0;
    }

    /// All that is due by now.
    void advance() {
        const Time now = clock_.now();
        if (now >= look_at_) {
            look_at_ = now + clock_.own(look_every);
            ports_.look();
        }
        leave(now);
        generator_.advance(
            now, [&](std::uint16_t port, std::span<const std::uint8_t> frame) { switch_.receive(port, frame, now); });
        leave(now);
        ports_.flush();
    }
    void leave(Time now) {
        switch_.advance(now, [&](std::uint16_t port, std::span<const std::uint8_t> frame, Time, std::uint64_t) {
            ports_.transmit(port, frame);
        });
    }

    static void settings(const p4::PortConfig& config, control::PortStatistics& of_port) {
        of_port.set_rate(config.rate);
        for (unsigned queue = 0; queue < p4::queues; ++queue) {
            control::QueueSettings& settings = *of_port.add_queues();
            settings.set_queue(queue);
            settings.set_limit(config.limit(queue));
            settings.set_priority(queue);
        }
    }

    void drops(control::SwitchStatistics& response) const {
        const auto add = [&](const char* name, std::uint64_t value) {
            control::Counter& counter = *response.add_drops();
            counter.set_name(name);
            counter.set_value(value);
        };
        const p4::Drops& drops = switch_.drops();
        add("longer than a port takes", drops.too_long);
        add("ingress: parser error", drops.ingress_parser);
        add("ingress: dropped by the program", drops.ingress_program);
        add("ingress: no port", drops.no_port);
        add("ingress: empty multicast group", drops.empty_group);
        add("from or to a port that is not set", drops.unknown_port);
        add("mirror session that is not set", drops.unknown_session);
        add("queue full", drops.queue_full);
        add("egress: parser error", drops.egress_parser);
        add("egress: dropped by the program", drops.egress_program);
        add("to a port without an interface", ports_.nowhere());
        add("not taken by an interface", ports_.unsent());
        add("lost by an interface before they were received", ports_.lost());
        add("longer than an interface may receive", ports_.truncated());
    }

    control::Signals signals_;
    control::Mailbox mailbox_;
    Clock clock_;
    p4::Switch<Program> switch_{rdma::icrc_of};
    Generator generator_;
    Ports ports_;
    std::vector<pollfd> polled_;  ///< of the ports, the mailbox, the signals
    Time look_at_ = 0;
};

}  // namespace polysome::soft_switch
