// A switch that runs a translated P4 program: ports, ingress, traffic manager, egress, mirroring, multicast, loopback.
//
// `Program` is what the P4 front end's translation yields: ingress() and egress() of pass.hpp, objects(), and the
// chip's conventions as constants:
//   length_extra        what egress pkt_length counts more than the frame that came to ingress
//   mirror_length_extra what it counts more than mirror header and copied bytes, for a mirror copy
//   mirror_cuts_header  whether a session's max_length includes the mirror header
//   mirror_cuts_fcs     how many bytes of an FCS it includes
//   queue_cell          bytes of a cell of the traffic manager
// The caller keeps time: it calls advance(next()) until that is later than what it does next, then receive().
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "switch/driver.hpp"
#include "switch/objects.hpp"
#include "switch/packet.hpp"
#include "switch/traffic_manager.hpp"

namespace polysome::p4 {

/// Computes the 4 bytes of ICRC behind a RoCEv2 frame (Ethernet, no FCS; IPv4 without options, UDP, a transport
/// header).
using IcrcOf = void (*)(std::span<const std::uint8_t> frame, std::uint8_t* icrc);

/// Packets and copies that went no further, by cause.
struct Drops {
    std::uint64_t too_long = 0;         // frames longer than a MAC accepts
    std::uint64_t ingress_parser = 0;   // errors that the program does not read
    std::uint64_t ingress_program = 0;  // drop_ctl
    std::uint64_t no_port = 0;          // neither a unicast port nor a group
    std::uint64_t empty_group = 0;      // a group without a port that is not excluded
    std::uint64_t unknown_port = 0;     // copies to a port that is not set
    std::uint64_t unknown_session = 0;  // mirror copies of a session that is not set
    std::uint64_t queue_full = 0;
    std::uint64_t egress_parser = 0;
    std::uint64_t egress_program = 0;
    std::uint64_t total() const {
        return too_long + ingress_parser + ingress_program + no_port + empty_group + unknown_port + unknown_session +
               queue_full + egress_parser + egress_program;
    }
};

struct Passes {
    std::uint64_t ingress = 0;   // frames that came to an ingress parser, recirculated ones too
    std::uint64_t egress = 0;    // copies that came to an egress parser
    std::uint64_t bypassed = 0;  // copies that left without egress
    std::uint64_t mirrored = 0;  // mirror copies made
    std::uint64_t recirculated = 0;
    std::uint64_t transmitted = 0;
};

template <class Program>
class Switch final : public RevocableDriver {
  public:
    explicit Switch(IcrcOf icrc = nullptr) : icrc_(icrc) {}

    void set_port(std::uint16_t number, const PortConfig& config) override {
        if (number >= ports) detail::refuse("port " + std::to_string(number), "there is no such port");
        if (config.append_icrc && icrc_ == nullptr)
            detail::refuse("port " + std::to_string(number), "append_icrc needs a function that computes it");
        traffic_.port(number).config = config;
        traffic_.port(number).configured = true;
        traffic_.port(number).held = false;
    }
    void hold_port(std::uint16_t number, bool on) override {
        if (!is_set(number)) detail::refuse("port " + std::to_string(number), "it is not set");
        traffic_.port(number).held = on;
    }

    bool is_set(std::uint16_t number) const { return number < ports && traffic_.port(number).configured; }
    const PortConfig& config(std::uint16_t number) const { return traffic_.port(number).config; }

    /// A frame, without FCS, comes to a port: ingress at once, its copies go into queues. All copies, those that go
    /// round included, keep `mark`, which no program sees.
    void receive(std::uint16_t number, std::span<const std::uint8_t> frame, Time now, std::uint64_t mark = 0) {
        if (number >= ports || !traffic_.port(number).configured) {
            ++drops_.unknown_port;
        } else if (frame.size() > longest_frame) {
            ++drops_.too_long;
        } else {
            Packet* p = pool_.copy(frame);
            p->mark = mark;
            ingress(p, number, now);
        }
    }

    /// When the next queued copy may leave, or a recirculated one arrives.
    Time next() const {
        const Time arrival = arrivals_.empty() ? never : arrivals_.top().at;
        return std::min(arrival, traffic_.next().at);
    }

    /// Does all that is due at or before `now`, in order of time; transmit(port, frame, left, mark) gets each
    /// frame that leaves a port and when its last bit does, which may be after `now`. Its bytes are valid during the
    /// call.
    template <class F>
    void advance(Time now, F&& transmit) {
        for (;;) {
            const auto next = traffic_.next();
            if (!arrivals_.empty() && arrivals_.top().at <= std::min(now, next.at)) {
                const Arrival a = arrivals_.top();
                arrivals_.pop();
                ingress(a.packet, a.packet->port, a.at);
            } else if (next.at <= now) {
                leave(traffic_.take(next.port, next.at), next.at, transmit);
            } else {
                return;
            }
        }
    }

    const Drops& drops() const { return drops_; }
    const Passes& passes() const { return passes_; }
    const QueueCounters& queue(std::uint16_t port, unsigned number) const {
        return traffic_.port(port).queue[number].counters;
    }
    Program& program() { return program_; }

    // ------------------------------------------------------------ RevocableDriver

    bool has_entry(std::string_view table, std::span<const Match> key) const override {
        return this->table(table).has(key);
    }
    Undo remember_entry(std::string_view table, std::span<const Match> key) override {
        return this->table(table).remember(key);
    }
    Undo remember_entries(std::string_view table) override { return this->table(table).remember_all(); }
    Undo remember_meter(std::string_view name, std::size_t index) override {
        return Objects::find(program_.objects().meters, name, "meter").remember(index);
    }

    // ------------------------------------------------------------ SwitchDriver

    void add_entry(std::string_view table, std::span<const Match> key, std::string_view action,
                   std::span<const u128> params = {}, std::uint32_t priority = 0) override {
        this->table(table).add(key, action, params, priority);
    }
    void modify_entry(std::string_view table, std::span<const Match> key, std::string_view action,
                      std::span<const u128> params = {}) override {
        this->table(table).modify(key, action, params);
    }
    void delete_entry(std::string_view table, std::span<const Match> key) override { this->table(table).erase(key); }
    void clear_entries(std::string_view table) override { this->table(table).clear(); }
    void set_default(std::string_view table, std::string_view action, std::span<const u128> params = {}) override {
        this->table(table).set_default(action, params);
    }
    std::size_t count_entries(std::string_view table) const override { return this->table(table).count(); }

    std::uint64_t read_register(std::string_view name, std::size_t index, std::string_view field = "") const override {
        return Objects::find(program_.objects().registers, name, "register").read(index, field);
    }
    void write_register(std::string_view name, std::size_t index, std::uint64_t value,
                        std::string_view field = "") override {
        Objects::find(program_.objects().registers, name, "register").write(index, value, field);
    }
    CounterValue read_counter(std::string_view name, std::size_t index) const override {
        return Objects::find(program_.objects().counters, name, "counter").read(index);
    }
    void set_meter(std::string_view name, std::size_t index, const MeterRates& rates) override {
        Objects::find(program_.objects().meters, name, "meter").set(index, rates);
    }

    void set_mirror(std::uint16_t session, std::uint16_t port, std::uint32_t max_length,
                    std::uint8_t queue = 0) override {
        if (session == 0 || session >= Program::mirror_sessions)
            detail::refuse("mirror session " + std::to_string(session), "there is no such session");
        check_queue("mirror session " + std::to_string(session), port, queue);
        if (sessions_.size() <= session) sessions_.resize(session + std::size_t{1});
        sessions_[session] = {true, port, max_length, queue};
    }
    void set_multicast(std::uint16_t group, std::span<const std::uint16_t> members, std::uint16_t rid = 0) override {
        const std::string name = "multicast group " + std::to_string(group);
        if (group == 0) detail::refuse(name, "0 means no group");
        for (const auto member : members) check_queue(name, member, 0);
        groups_[group] = {rid, {members.begin(), members.end()}};
    }

  private:
    struct Session {
        bool set = false;
        std::uint16_t port = 0;
        std::uint32_t max_length = 0;
        std::uint8_t queue = 0;
    };
    struct Group {
        std::uint16_t rid = 0;
        std::vector<std::uint16_t> members;
    };
    struct Arrival {
        Time at;
        std::uint64_t order;
        Packet* packet;
        bool operator<(const Arrival& o) const { return at != o.at ? at > o.at : order > o.order; }
    };

    TableBase& table(std::string_view name) const { return Objects::find(program_.objects().tables, name, "table"); }

    static void check_queue(const std::string& what, std::uint16_t port, unsigned queue) {
        if (port >= ports) detail::refuse(what, "there is no port " + std::to_string(port));
        if (queue >= queues) detail::refuse(what, "there is no queue " + std::to_string(queue));
    }

    // ------------------------------------------------------------ ingress

    void ingress(Packet* p, std::uint16_t number, Time now) {
        ++passes_.ingress;
        std::uint8_t metadata[24] = {};
        store<8>(metadata, traffic_.port(number).config.metadata);
        IngressOutput out;
        program_.ingress({p->data, p->size, number, metadata, now}, out);
        Packet* mirror = out.mirror.asked ? mirrored(out.mirror, p) : nullptr;
        const std::uint32_t length = p->size + Program::length_extra;
        if (out.cause == Cause::none) {
            p = pool_.rewrite(p, out.front);
            replicate(p, out, static_cast<std::uint16_t>(length), now);
        } else {
            count(out.cause, drops_.ingress_parser, drops_.ingress_program);
            pool_.release(p);
        }
        if (mirror != nullptr) enqueue(mirror, now);
    }

    /// The unicast copy and those of the groups, in this order; the last one is the packet itself.
    void replicate(Packet* p, const IngressOutput& out, std::uint16_t length, Time now) {
        targets_.clear();
        if (out.port != no_port) targets_.push_back({out.port, out.rid, true});
        for (const std::uint16_t number : {out.group_a, out.group_b}) {
            const auto found = number != 0 ? groups_.find(number) : groups_.end();
            if (found == groups_.end()) continue;
            bool first = true;
            for (const std::uint16_t member : found->second.members) {
                targets_.push_back({member, found->second.rid, first});
                first = false;
            }
        }
        if (targets_.empty()) {
            ++(out.group_a != 0 || out.group_b != 0 ? drops_.empty_group : drops_.no_port);
            return pool_.release(p);
        }
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            Packet* copy = i + 1 < targets_.size() ? pool_.copy({p->data, p->size}) : p;
            copy->mark = p->mark;
            copy->port = targets_[i].port;
            copy->rid = targets_[i].rid;
            copy->first_copy = targets_[i].first;
            copy->length = length;
            copy->queue = out.queue % queues;
            copy->bypass = out.bypass;
            enqueue(copy, now);
        }
    }

    /// The copy that a deparser asks for: its header, then the packet as it came (egress: as it leaves), cut by the
    /// session.
    Packet* mirrored(const MirrorRequest& asked, const Packet* p) {
        if (asked.session >= sessions_.size() || !sessions_[asked.session].set) {
            ++drops_.unknown_session;
            return nullptr;
        }
        const Session& session = sessions_[asked.session];
        const std::uint32_t most =
            std::min(session.max_length == 0 ? longest_frame : session.max_length, longest_frame);
        const std::uint32_t counted = (Program::mirror_cuts_header ? asked.size : 0u) + Program::mirror_cuts_fcs;
        const std::uint32_t room = most - std::min(most, counted);
        const std::uint32_t bytes = std::min(p->size, room);
        Packet* copy = pool_.make(asked.size + bytes);
        std::memcpy(copy->data, asked.header, asked.size);
        std::memcpy(copy->data + asked.size, p->data, bytes);
        copy->mark = p->mark;
        copy->port = session.port;
        copy->queue = session.queue;
        copy->rid = 0;
        copy->bypass = false;
        copy->first_copy = true;
        copy->length = static_cast<std::uint16_t>(copy->size + Program::mirror_length_extra);
        ++passes_.mirrored;
        return copy;
    }

    void enqueue(Packet* p, Time now) {
        if (p->port >= ports || !traffic_.port(p->port).configured) {
            ++drops_.unknown_port;
            pool_.release(p);
        } else if (!traffic_.put(p, now)) {
            ++drops_.queue_full;
            pool_.release(p);
        }
    }

    static void count(Cause cause, std::uint64_t& parser, std::uint64_t& program) {
        ++(cause == Cause::parser ? parser : program);
    }

    // ------------------------------------------------------------ egress

    template <class F>
    void leave(Packet* p, Time now, F&& transmit) {
        if (!p->bypass) {
            p = egress(p, now);
            if (p == nullptr) return;
        } else {
            ++passes_.bypassed;
        }
        if (p->size > longest_frame) {
            ++drops_.too_long;
            return pool_.release(p);
        }
        const auto& port = traffic_.port(p->port);
        if (port.config.append_icrc && lacks_icrc(p->data, p->size)) {
            icrc_({p->data, p->size}, p->data + p->size);
            p->size += 4;
        }
        const Time left = traffic_.send(p->port, p->size, now);
        if (port.config.loopback) {
            ++passes_.recirculated;
            arrivals_.push({left + port.config.loop_time, order_++, p});
            return;
        }
        ++passes_.transmitted;
        transmit(p->port, std::span<const std::uint8_t>(p->data, p->size), left, p->mark);
        pool_.release(p);
    }

    /// The packet as egress leaves it; nullptr if it dropped it.
    Packet* egress(Packet* p, Time now) {
        ++passes_.egress;
        const std::uint32_t depth = traffic_.port(p->port).queue[p->queue].bytes;
        EgressOutput out;
        program_.egress({p->data, p->size, p->port, p->rid, p->length, p->queue, p->first_copy, p->depth / cell,
                         depth / cell, p->since, now},
                        out);
        if (out.cause == Cause::parser) {
            ++drops_.egress_parser;
            pool_.release(p);
            return nullptr;
        }
        p = pool_.rewrite(p, out.front);
        if (out.mirror.asked)
            if (Packet* mirror = mirrored(out.mirror, p)) enqueue(mirror, now);
        if (out.cause == Cause::none) return p;
        ++drops_.egress_program;
        pool_.release(p);
        return nullptr;
    }

    /// RoCEv2 (UDP to its port over IPv4 without options or fragments, with a base transport header) that claims four
    /// bytes more than it has. Servers' own, which is only forwarded, has its ICRC.
    static bool lacks_icrc(const std::uint8_t* frame, std::uint32_t size) {
        using protocol::Ethernet, protocol::Ipv4, protocol::Udp;
        constexpr std::uint32_t ip = Ethernet::size, udp = ip + Ipv4::size;
        constexpr std::uint32_t least = udp + Udp::size + protocol::Bth::size;
        return size >= least && Ethernet::ether_type::read(frame) == 0x0800 &&
               Ipv4::version_ihl::read(frame + ip) == 0x45 && Ipv4::protocol::read(frame + ip) == 17 &&
               (Ipv4::fragment::read(frame + ip) & 0x3fff) == 0 &&
               Udp::dport::read(frame + udp) == protocol::roce::port &&
               ip + Ipv4::total_length::read(frame + ip) == size + protocol::requests::icrc;
    }

    struct Target {
        std::uint16_t port, rid;
        bool first;
    };
    static constexpr std::uint32_t cell = Program::queue_cell;

    IcrcOf icrc_;
    mutable Program program_;
    PacketPool pool_;
    TrafficManager traffic_{cell};
    std::vector<Session> sessions_;
    std::map<std::uint16_t, Group> groups_;
    std::vector<Target> targets_;
    std::priority_queue<Arrival> arrivals_;
    std::uint64_t order_ = 0;
    Drops drops_;
    Passes passes_;
};

}  // namespace polysome::p4
