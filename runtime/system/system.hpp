/// The whole system in one process: traffic, switch, shared servers, NF, and the links between them, on virtual time.
/// The same config, seed, arrivals and changes by the controller give the same run, frame by frame.
///
/// The controller is the caller: it sets the switch through its driver, resets queue pairs, and has a run stop when
/// there is something to see. `SwitchT` is a p4::Switch, `Nf` a generated NF.
#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "switch/roles.hpp"
#include "switch/switch.hpp"
#include "system/agenda.hpp"
#include "system/config.hpp"
#include "system/server.hpp"

namespace polysome::system {

using p4::sweep_frame;

/// Why a run has stopped.
enum class Stop : uint8_t {
    done,  ///< all that was asked for has happened
    due,   ///< the time that was given
    seen,  ///< a register that is watched does not have the values that it had
};

/// A register of the switch's program whose first cells are looked at again and again; none: `count` is 0.
struct Watch {
    std::string name;
    std::vector<uint64_t> values;  ///< of its first cells, as they were
    Time period = 0;               ///< ns between two looks
};

template <class SwitchT, class Nf>
class System final {
  public:
    /// Arrivals at server i's own port rather than at a logical port have this bit and i for their port.
    static constexpr uint16_t at_server = 0x4000;
    /// And those with this one are frames that the NF's host sends beside the NF.
    static constexpr uint16_t at_nf = 0x8000;
    /// And those with both bits come into this port of the switch without a link; one that is not set has no role.
    static constexpr uint16_t at_switch = 0xc000;

    System(const SystemConfig& config, std::span<const uint64_t> sizes, bool collide)
        : config_(config), work_(parts(config)), clocks_(clock_parts) {
        commons_.switch_mac = config.switch_mac;
        commons_.capture = config.capture;
        add_traffic();
        add_nf(sizes, collide);
        add_servers();
        plan_mishaps();
    }
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    /// The NF's config. False if the blob is malformed.
    bool configure(std::span<const uint8_t> blob) { return nf_->configure(blob); }
    void change_at(Time time, std::span<const uint8_t> blob) { nf_->change_at(time, blob); }

    // ---- the controller's

    /// Frames that were held may leave now.
    void set_port(uint16_t port, const p4::PortConfig& config) {
        switch_.set_port(port, config);
        refresh_switch();
    }
    void hold_port(uint16_t port, bool on) {
        switch_.hold_port(port, on);
        refresh_switch();
    }
    /// Sweeps over queue pairs 0 to `count` - 1, as frames of the packet generator at `port` (rule 4); none if `period`
    /// or `count` is 0.
    void set_generator(uint16_t port, Time period, size_t count) {
        generator_ = {port, period, count};
        if (!asleep_) wake_sweep();
    }
    /// A run stops at a look at which the register's values are others than those now.
    void watch(const std::string& name, size_t count, Time period) {
        watched_ = {name, std::vector<uint64_t>(count), period};
        for (size_t i = 0; i < count; ++i) watched_.values[i] = switch_.read_register(name, i);
        if (!asleep_) wake_looks();
    }
    /// Has nothing moved for so long that a sweep, or a look at the switch, finds nothing new? Then both sleep until
    /// something moves; a trace may have gaps of hours.
    bool resting() const { return work_.time() == never && now_ - last_work_ > 4 * longest_pause(); }
    /// When a server dies, comes back or fails next; `never` if none does.
    Time next_mishap() const { return clocks_.due(mishaps); }

    // ---- a run

    /// Packets arrive, in order of time, and all that happens before each is done first, but nothing later than
    /// `until`. `taken`: how many have arrived. Times do not run back; if one does, it is now.
    template <class Arrivals>
    Stop arrive(const Arrivals& arrivals, size_t& taken, Time until) {
        for (taken = 0; taken < arrivals.size(); ++taken) {
            const auto& next = arrivals[taken];
            if (commons_.ledger.packets() == 0) switch_start_ = next.time;
            if (run_until(std::min<Time>(next.time, until)) == Stop::seen) return Stop::seen;
            if (next.time > until) return passed(until);
            now_ = std::max<Time>(now_, next.time);
            arrive(next.port, {next.data, next.size});
        }
        return Stop::done;
    }

    /// Runs until nothing is on the way, or for as long as the config says, but not beyond `until`: to be called again
    /// until it is done. Then it has told what is lost and what is held.
    Stop finish(Time until) {
        if (!ending_) end_ = now_ + std::min(config_.drain, never - now_);
        ending_ = true;
        if (const Stop stop = run_out(until); stop != Stop::done) return stop;
        if (!nf_ended_) {
            nf_ended_ = true;
            nf_->finish();
            refresh(*nf_out_);
            if (const Stop stop = run_out(until); stop != Stop::done) return stop;
        }
        tell_fates();
        return Stop::done;
    }

    // ---- what there is

    const SystemConfig& config() const { return config_; }
    SwitchT& device() { return switch_; }
    const SwitchT& device() const { return switch_; }
    const NfHost<Nf>& nf() const { return *nf_; }
    const Server& server(size_t i) const { return *servers_.at(i); }
    Server& server(size_t i) { return *servers_.at(i); }
    size_t servers() const { return servers_.size(); }
    const std::vector<std::unique_ptr<Link>>& links() const { return links_; }
    const Link& link(std::string_view name) const {
        for (const auto& link : links_) {
            if (link->name() == name) return *link;
        }
        throw std::out_of_range("no link " + std::string(name));
    }
    const Ledger& ledger() const { return commons_.ledger; }
    Recorder& recorder() { return commons_.recorder; }
    Time now() const { return now_; }
    uint64_t events() const { return events_; }
    uint64_t sweeps() const { return sweeps_; }
    uint64_t nowhere() const { return nowhere_; }

  private:
    /// The switch's clock at the first packet, ns: past every timeout of its program, whose registers begin as zeros.
    static constexpr Time warm_up = 10'000'000;

    /// The parts that wait for each other's frames; then the servers, then the links. At one instant the switch is
    /// first: what waits in it leaves before more comes.
    enum Part : size_t { switch_part, nf_part, first_server_part };
    /// The parts that act by the clock: they alone do not keep a run going.
    enum ClockPart : size_t { nf_wake, mishaps, sweep, look, clock_parts };

    static size_t parts(const SystemConfig& config) {
        return first_server_part + config.servers.size() + 2 * (config.traffic.size() + 1 + config.servers.size());
    }
    size_t first_link_part() const { return first_server_part + config_.servers.size(); }

    /// What becomes of a frame at a link's end.
    struct Place {
        enum Kind : uint8_t { switch_port, sink, nf, server } kind;
        uint16_t number;
    };
    struct Mishap {
        Time at;
        enum Kind : uint8_t { kill, revive, fail } kind;
        size_t server;
    };

    // ------------------------------------------------------------ building

    /// Both directions of a cable. The switch's side of `out` queues and sends; the link itself only takes its time.
    void add_cable(const std::string& name, const CableConfig& cable, size_t index, Role out, Role in,
                   typename Place::Kind end) {
        LinkConfig wire = cable.out;
        wire.rate = 0;
        add_link(name + " out", wire, cable.out_faults, out, {end, static_cast<uint16_t>(index)});
        if (cable.port >= by_port_.size()) by_port_.resize(size_t{cable.port} + 1, nullptr);
        if (by_port_[cable.port] != nullptr) {
            throw std::invalid_argument("port " + std::to_string(cable.port) + " of the switch has two cables");
        }
        by_port_[cable.port] = links_.back().get();
        add_link(name + " in", cable.in, cable.in_faults, in, {Place::switch_port, cable.port});
    }
    void add_link(const std::string& name, const LinkConfig& link, const Faults& faults, Role role, Place end) {
        const auto number = static_cast<uint16_t>(links_.size());
        links_.push_back(std::make_unique<Link>(commons_, name, number, role, link, faults, config_.seed));
        ends_.push_back(end);
    }
    void add_traffic() {
        for (size_t i = 0; i < config_.traffic.size(); ++i) {
            add_cable("traffic" + std::to_string(i), config_.traffic[i], i, Role::traffic, Role::traffic, Place::sink);
            ways_in_.push_back(links_.back().get());
        }
    }
    void add_nf(std::span<const uint64_t> sizes, bool collide) {
        add_cable("nf", config_.nf_cable, 0, Role::to_nf, Role::from_nf, Place::nf);
        nf_ = std::make_unique<NfHost<Nf>>(commons_, *links_.back(), config_.nf, sizes, collide);
        nf_out_ = links_.back().get();
    }
    void add_servers() {
        for (size_t i = 0; i < config_.servers.size(); ++i) {
            const ServerConfig& server = config_.servers[i];
            add_cable("server" + std::to_string(i), server.cable, i, Role::to_server, Role::from_server, Place::server);
            server_ways_in_.push_back(links_.back().get());
            servers_.push_back(std::make_unique<Server>(commons_, i, server.nic, server.queue_pairs, config_.seed));
        }
    }
    void plan_mishaps() {
        for (size_t i = 0; i < config_.servers.size(); ++i) {
            for (const Interval& interval : config_.servers[i].dead) {
                mishaps_.push_back({interval.from, Mishap::kill, i});
                if (interval.to != never) mishaps_.push_back({interval.to, Mishap::revive, i});
            }
            for (const Time at : config_.servers[i].failures) mishaps_.push_back({at, Mishap::fail, i});
        }
        std::stable_sort(mishaps_.begin(), mishaps_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
        if (!mishaps_.empty()) clocks_.set(mishaps, mishaps_.front().at);
    }

    // ------------------------------------------------------------ running

    Time next() const { return std::min(work_.time(), clocks_.time()); }
    Stop passed(Time until) {
        now_ = std::max(now_, until);
        return Stop::due;
    }
    /// Until nothing is on the way, or the run's end.
    Stop run_out(Time until) {
        while (work_.time() != never && next() <= end_) {
            if (next() > until) return passed(until);
            step();
            if (std::exchange(seen_, false)) return Stop::seen;
        }
        return Stop::done;
    }
    Stop run_until(Time time) {
        while (next() <= time) {
            step();
            if (std::exchange(seen_, false)) return Stop::seen;
        }
        return Stop::done;
    }

    void arrive(uint16_t port, std::span<const uint8_t> bytes) {
        if ((port & at_switch) == at_switch) return into_switch(port & ~at_switch, bytes);
        Link* const link = way_in(port);
        if (link == nullptr) throw std::invalid_argument("there is no port " + std::to_string(port));
        link->send(bytes, Mark::of(Mark::packet, commons_.ledger.arrived()), now_);
        refresh(*link);
    }
    void tell_fates() {
        Ledger& ledger = commons_.ledger;
        for (uint64_t packet = 0; packet < ledger.packets(); ++packet) {
            const Fate fate = ledger.fate(packet);
            if (fate == Fate::lost) record(Record::lost, ledger.cause_of(packet), packet);
            if (fate == Fate::held) record(Record::held, 0, packet);
        }
        commons_.recorder.write(Record::end, 0, nf_->now(), no_number, no_number);
    }

    /// One part does what it has to at its time; at one instant, those that act by the clock are last.
    void step() {
        ++events_;
        assert(std::min(work_.time(), clocks_.time()) >= now_);
        if (clocks_.time() < work_.time()) {
            now_ = clocks_.time();
            return run_clock(clocks_.first());
        }
        now_ = work_.time();
        last_work_ = now_;
        if (asleep_) wake_clocks();
        const size_t i = work_.first();
        if (i >= first_link_part()) return deliver(i - first_link_part());
        if (i == switch_part) return run_switch();
        if (i == nf_part) return run_nf();
        run_server(i - first_server_part);
    }

    void deliver(size_t i) {
        Link& link = *links_[i];
        const Frame frame = link.deliver();
        refresh(link);
        const Place end = ends_[i];
        switch (end.kind) {
            case Place::switch_port:
                arrived_at_switch(frame, link.role());
                switch_.receive(end.number, frame.bytes(), switch_time(now_), frame.mark);
                refresh_switch();
                break;
            case Place::sink:
                leave(frame, end.number);
                break;
            case Place::nf:
                nf_->receive(frame, now_);  // which gives it back
                return work_.set(nf_part, nf_->next_poll());
            case Place::server:
                servers_[end.number]->receive(frame, now_, answers_of(end.number));
                refresh_server(end.number);
                break;
        }
        give_back(commons_.pool, frame);
    }

    void into_switch(uint16_t port, std::span<const uint8_t> bytes) {
        if (!switch_.is_set(port)) switch_.set_port(port, p4::PortConfig{});
        const uint64_t mark = Mark::of(Mark::packet, commons_.ledger.arrived());
        commons_.ledger.reached(mark, Step::at_switch);
        switch_.receive(port, bytes, switch_time(now_), mark);
        refresh_switch();
    }

    void arrived_at_switch(const Frame& frame, Role role) {
        const Step step = role == Role::from_nf          ? Step::back
                          : frame.kind == Kind::response ? Step::merging
                                                         : Step::at_switch;
        commons_.ledger.reached(frame.mark, step);
    }

    void leave(const Frame& frame, uint16_t port) {
        commons_.ledger.left(frame.mark);
        const bool own = Mark::kind(frame.mark) == Mark::emission;
        const bool decided = Mark::kind(frame.mark) == Mark::decision;
        // More than fits is a fault of the switch, which the reader finds.
        const size_t suffix = std::min<size_t>(255, frame.size - commons_.ledger.length_of(frame.mark, frame.size));
        commons_.recorder.write(own ? Record::own_left : Record::left, port, now_,
                                own || decided ? Mark::number(frame.mark) : no_number,
                                commons_.ledger.packet_of(frame.mark), frame.bytes(), suffix);
    }

    void run_switch() {
        switch_.advance(switch_time(now_),
                        [&](uint16_t port, std::span<const uint8_t> bytes, Time left, uint64_t mark) {
                            if (port >= by_port_.size() || by_port_[port] == nullptr) {
                                ++nowhere_;
                                return;
                            }
                            Link& link = *by_port_[port];
                            if (link.role() == Role::traffic) commons_.ledger.reached(mark, Step::leaving);
                            link.put(bytes, mark, std::max(now_, left + switch_start_ - warm_up));
                            refresh(link);
                        });
        refresh_switch();
    }

    void run_nf() {
        nf_->poll(now_);
        refresh(*nf_out_);
        work_.set(nf_part, nf_->next_poll());
        nf_->plan_wake(now_);
        clocks_.set(nf_wake, nf_->next_wake());
    }

    void run_server(size_t i) {
        servers_[i]->advance(now_, answers_of(i));
        refresh_server(i);
    }
    auto answers_of(size_t i) {
        return
            [this, i](std::span<const uint8_t> bytes, uint64_t mark) { server_ways_in_[i]->send(bytes, mark, now_); };
    }

    // ------------------------------------------------------------ by the clock

    void run_clock(size_t i) {
        switch (i) {
            case nf_wake:
                nf_->run_due(now_);
                refresh(*nf_out_);
                return clocks_.set(nf_wake, nf_->next_wake());
            case mishaps:
                return run_mishap();
            case sweep:
                if (resting()) return sleep();
                sweep_all();
                return wake_sweep();
            default:
                if (resting()) return sleep();
                seen_ = changed();
                return wake_looks();
        }
    }
    bool changed() const {
        for (size_t i = 0; i < watched_.values.size(); ++i) {
            if (switch_.read_register(watched_.name, i) != watched_.values[i]) return true;
        }
        return false;
    }

    Time longest_pause() const { return std::max(generator_.period, watched_.period); }
    void sleep() {
        asleep_ = true;
        clocks_.set(sweep, never);
        clocks_.set(look, never);
    }
    void wake_clocks() {
        asleep_ = false;
        wake_sweep();
        wake_looks();
    }
    void wake_sweep() {
        clocks_.set(sweep, generator_.period == 0 || generator_.count == 0 ? never : now_ + generator_.period);
    }
    void wake_looks() { clocks_.set(look, watched_.values.empty() ? never : now_ + watched_.period); }

    void sweep_all() {
        ++sweeps_;
        for (size_t qp = 0; qp < generator_.count; ++qp) {
            switch_.receive(generator_.port, sweep_frame(static_cast<uint16_t>(qp)), switch_time(now_), 0);
        }
        refresh_switch();
    }

    void run_mishap() {
        const Mishap mishap = mishaps_[next_mishap_++];
        Server& server = *servers_[mishap.server];
        if (mishap.kind == Mishap::kill) server.kill();
        if (mishap.kind == Mishap::revive) server.revive();
        if (mishap.kind == Mishap::fail) server.fail();
        refresh_server(mishap.server);
        clocks_.set(mishaps, next_mishap_ < mishaps_.size() ? mishaps_[next_mishap_].at : never);
    }

    // ------------------------------------------------------------ the agenda

    Time switch_time(Time time) const { return time - switch_start_ + warm_up; }
    void refresh_switch() {
        const Time next = switch_.next();
        // What a port held waits since some time ago.
        work_.set(switch_part, next == never ? never : std::max(now_, next + switch_start_ - warm_up));
    }
    void refresh(const Link& link) { work_.set(first_link_part() + link.number(), link.next()); }
    void refresh_server(size_t i) {
        refresh(*server_ways_in_[i]);
        work_.set(first_server_part + i, servers_[i]->next());
    }
    Link* way_in(uint16_t port) {
        if (port == at_nf) return nf_out_;
        const auto& ways = (port & at_server) != 0 ? server_ways_in_ : ways_in_;
        const size_t i = port & ~at_server;
        return i < ways.size() ? ways[i] : nullptr;
    }
    void record(Record kind, uint16_t port, uint64_t packet) {
        commons_.recorder.write(kind, port, now_, no_number, packet);
    }

    SystemConfig config_;
    Commons commons_;
    SwitchT switch_{rdma::icrc_of};
    Agenda work_, clocks_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Place> ends_;     ///< of each link
    std::vector<Link*> by_port_;  ///< the links from the switch
    std::vector<Link*> ways_in_, server_ways_in_;
    Link* nf_out_ = nullptr;
    std::unique_ptr<NfHost<Nf>> nf_;
    std::vector<std::unique_ptr<Server>> servers_;
    struct Generator {
        uint16_t port = 0;
        Time period = 0;
        size_t count = 0;
    } generator_;
    Watch watched_;
    bool seen_ = false;  ///< there is something that the controller has to see
    std::vector<Mishap> mishaps_;
    size_t next_mishap_ = 0;
    Time switch_start_ = 0;  ///< when the first packet came
    Time now_ = 0;
    Time last_work_ = 0;
    bool asleep_ = true;
    bool ending_ = false, nf_ended_ = false;
    Time end_ = never;  ///< of the run
    uint64_t events_ = 0, sweeps_ = 0, nowhere_ = 0;
};

}  // namespace polysome::system
