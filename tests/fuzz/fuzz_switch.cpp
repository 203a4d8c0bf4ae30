/// The soft switch with an emitted program, as its process drives it: frames from ports of every role, answers of NF
/// and servers, true and changed, sweeps, and a controller's requests. What leaves is as PROTOCOL.md's rules say,
/// whoever the frames came from: nothing forged goes on.
///
/// Kinds of steps: 0 to 3 a frame into a port of the switch (`place`); 4 the next frame that waits for the NF or a
/// server is answered, `bytes` are patches; 5 all that waits is answered, truly; 6 a WriteRequest, 7 a ReadRequest of
/// control.proto. What is in force after a request that a controller would not make is not judged.
#include <array>
#include <deque>

#include "control.pb.h"
#include "described.hpp"
#include "program.hpp"
#include "rdma/responder.hpp"
#include "steps.hpp"
#include "switch/process/generator.hpp"
#include "switch/process/requests.hpp"
#include "switch/switch.hpp"
#include "system/abi.hpp"

using namespace polysome;
using namespace fuzz;
using p4::PortRole;
using p4::Time;

namespace {

const system::SystemConfig config = system::config_of(described());

struct Place {
    uint16_t port;
    PortRole role;
    size_t index;
};

std::vector<Place> all_places() {
    std::vector<Place> places;
    for (size_t i = 0; i < config.traffic.size(); ++i) places.push_back({config.traffic[i].port, PortRole::traffic, i});
    places.push_back({config.nf_cable.port, PortRole::nf, 0});
    for (size_t i = 0; i < config.servers.size(); ++i)
        places.push_back({config.servers[i].cable.port, PortRole::server, i});
    places.push_back({controller_port, PortRole::controller, 255});
    places.push_back({plain_port, PortRole::plain, 0});
    return places;
}
const std::vector<Place> places = all_places();

/// What the controller does, to a switch and its servers.
class Controlled {
  public:
    using Values = std::initializer_list<uint64_t>;
    using Servers = std::vector<std::unique_ptr<rdma::Responder>>;
    Controlled(p4::RevocableDriver& driver, soft_switch::Generator& generator, Servers& servers, Time now)
        : driver_(driver), generator_(generator), servers_(servers), now_(now) {}

    void put(const char* table, Values key, const char* action, Values parameters) {
        const auto match = system::matches({key.begin(), key.size()});
        const std::vector<p4::u128> values(parameters.begin(), parameters.end());
        if (driver_.has_entry(table, match)) return driver_.modify_entry(table, match, action, values);
        driver_.add_entry(table, match, action, values);
    }
    void remove(const char* table, Values key) {
        const auto match = system::matches({key.begin(), key.size()});
        if (driver_.has_entry(table, match)) driver_.delete_entry(table, match);
    }
    void clear(const char* table) { driver_.clear_entries(table); }
    void set_register(const char* name, size_t index, uint64_t value, const char* field) {
        driver_.write_register(name, index, value, field);
    }
    void set_meter(const char* name, size_t index, uint64_t rate, uint64_t burst) {
        driver_.set_meter(name, index, {rate, burst, rate, burst});
    }
    void set_mirror(uint16_t session, uint16_t port, uint32_t length) { driver_.set_mirror(session, port, length); }
    void set_group(uint16_t group, std::initializer_list<uint16_t> ports) {
        driver_.set_multicast(group, {ports.begin(), ports.size()});
    }
    void set_port(const polysome_port& port) { driver_.set_port(port.port, system::port_of(port)); }
    void set_generator(uint16_t port, uint64_t period, uint32_t count) { generator_.set({port, period, count}, now_); }
    void clear_memory(size_t) {}  // memory is new
    void reset(size_t server, uint32_t, uint32_t peer, uint32_t number, uint32_t psn) {
        servers_[server]->add(number, {config.switch_mac, config.switch_ip, peer}, psn);
    }

  private:
    p4::RevocableDriver& driver_;
    soft_switch::Generator& generator_;
    Servers& servers_;
    Time now_;
};

/// What leaves by a port, judged by where it came from: the frame itself, or the one that had it made.
class Judge {
  public:
    static constexpr uint64_t sweep = 255;

    void left(uint64_t from, const Place& to, View frame) const {
        const bool swept = from == sweep;
        const PortRole role = swept ? PortRole::generator : places[from].role;
        switch (to.role) {
            case PortRole::nf:
                return to_nf(role, swept ? 0 : places[from].index, frame);
            case PortRole::server:
                return to_server(role, to.index, frame);
            case PortRole::traffic:
                check(role != PortRole::traffic && role != PortRole::generator,
                      "users' packets leave by an NF's answer", frame);
                return;
            case PortRole::plain:
                check(role == PortRole::server || role == PortRole::plain, "stations hear servers and stations only",
                      frame);
                return check(!is_forged(frame), "nobody speaks to a station in the switch's name", frame);
            default:
                check(to.role == PortRole::controller, "nothing leaves by other ports", frame);
        }
    }

  private:
    static bool ours(View frame) {
        return frame.size() >= 12 && std::equal(config.switch_mac.begin(), config.switch_mac.end(), frame.begin() + 6);
    }

    static void to_nf(PortRole from, size_t index, View frame) {
        check(from == PortRole::traffic || from == PortRole::controller,
              "an NF hears of users' packets and probes only", frame);
        check(Tag::accepts(frame.data(), frame.size()) && ours(frame), "an NF hears the switch only", frame);
        const uint16_t port = Tag::port(frame.data());
        check(port == (from == PortRole::traffic ? index : Tag::controller), "the tag says where the packet arrived",
              frame);
        if (Tag::is_whole(frame.data())) return;
        check(Tag::number(frame.data()) != 0 && Tag::seq(frame.data()) != 0, "fields are of a class, and parked",
              frame);
    }

    static void to_server(PortRole from, size_t index, View frame) {
        if (from == PortRole::server || from == PortRole::plain) {
            return check(!is_forged(frame), "no server hears another in the switch's name", frame);
        }
        const system::ServerConfig& server = config.servers[index];
        rdma::Frame request;
        check(rdma::parse(frame, request) == rdma::Flaw::none, "a request is whole", frame);
        // What follows edits, of an NF that sends more than it should, follows the READ: servers drop it.
        const bool more = frame.size() > rdma::ETHERNET_SIZE + rdma::datagram(frame).size();
        check(rdma::icrc_holds(rdma::datagram(frame)) || (more && from != PortRole::traffic), "with its ICRC", frame);
        check(request.destination == server.nic.mac && request.destination_ip == server.nic.ip, "to this server",
              frame);
        check(request.source == config.switch_mac && request.source_ip == config.switch_ip, "from the switch", frame);
        const bool read = request.bth.opcode == rdma::Opcode::read_request;
        check(read || request.bth.opcode == rdma::Opcode::write_only, "WRITEs and READs only", frame);
        const uint64_t length = request.reth.length, address = request.reth.address;
        check(read || request.payload.size() == length, "a WRITE is as long as it says", frame);
        check(address % cell == 0 && length <= cell && address + length <= server.nic.region_size, "one cell at most",
              frame);
        check(request.reth.rkey == server.nic.rkey, "with the region's key", frame);
        check(from != PortRole::traffic || !read, "users cause WRITEs only", frame);
        check(from != PortRole::nf || read, "an NF causes READs only", frame);
    }

    /// Rule 8: is it a frame between switch and NF, or of the switch by its address in IPv4; behind at most two tags?
    static bool is_forged(View frame) {
        for (size_t at = 12; at + 2 <= frame.size() && at <= 20; at += 4) {
            const uint16_t type = load<uint16_t>(frame.data() + at);
            if (type == Tag::ether_type) return true;
            if (type == 0x0800) {
                const bool whole = at + 18 <= frame.size() && frame[at + 2] >> 4 == 4;
                return whole && load<uint32_t>(frame.data() + at + 14) == config.switch_ip;
            }
            if (type != 0x8100 && type != 0x88a8) return false;
        }
        return false;
    }
};

class Harness {
  public:
    Harness() {
        for (const system::ServerConfig& server : config.servers)
            servers_.push_back(std::make_unique<rdma::Responder>(server.nic));
        Controlled controlled(switch_, generator_, servers_, now_);
        set_up(controlled);
    }

    void take(const Step& step) {
        now_ += step.time();
        generator_.advance(now_, [&](uint16_t port, View frame) { switch_.receive(port, frame, now_, Judge::sweep); });
        leave();
        switch (step.kind % 8) {
            case 4:
                return answer(step.place, step.bytes);
            case 5:
                return answer_all();
            case 6:
                return write(step.bytes);
            case 7:
                return read(step.bytes);
            default:
                return receive(step.place % places.size(), step.bytes);
        }
    }

  private:
    void receive(size_t from, View bytes) {
        ++count.frames;
        const Exact exact(bytes);
        switch_.receive(places[from].port, exact.bytes(), now_, from);
        leave();
    }
    void leave() {
        switch_.advance(now_, [&](uint16_t port, View frame, Time, uint64_t mark) {
            const auto to = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.port == port; });
            if (lawful_) {
                check(to != places.end(), "frames leave by ports that there are");
                judge_.left(mark, *to, frame);
            }
            if (to != places.end() && (to->role == PortRole::nf || to->role == PortRole::server))
                waiting_.push_back({static_cast<size_t>(to - places.begin()), {frame.begin(), frame.end()}});
        });
    }

    /// By the `skip`th that waits, or the last; with patches.
    void answer(size_t skip, View patches) {
        if (waiting_.empty()) return;
        const auto chosen = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(skip % 8, waiting_.size() - 1));
        const auto [place, frame] = std::move(*chosen);
        waiting_.erase(chosen);
        for (Bytes& made : answers(place, frame)) {
            patch(made, patches);
            receive(place, made);
        }
    }
    void answer_all() {
        for (int i = 0; i < 200 && !waiting_.empty(); ++i) {
            now_ += 2'000;
            leave();
            answer(0, {});
        }
    }

    std::vector<Bytes> answers(size_t place, const Bytes& frame) {
        std::vector<Bytes> made;
        if (places[place].role == PortRole::server) {
            servers_[places[place].index]->receive(frame, now_,
                                                   [&](View one) { made.emplace_back(one.begin(), one.end()); });
            servers_[places[place].index]->advance(NEVER, [&](View one) { made.emplace_back(one.begin(), one.end()); });
            return made;
        }
        if (!Tag::accepts(frame.data(), frame.size())) return {};
        Bytes edits = frame;
        std::swap_ranges(edits.begin(), edits.begin() + 6, edits.begin() + 6);
        Tag::set_port(edits.data(), Tag::is_probe(edits.data()) ? Tag::controller : 1);
        return {edits};
    }

    // ------------------------------------------------------------ a controller's requests

    size_t entries() const {
        size_t sum = 0;
        for (const char* table : {"Ingress.buckets", "Ingress.stations", "Ingress.answers", "Ingress.verdicts",
                                  "Ingress.nf_links", "Ingress.servers", "Egress.queue_pairs", "Egress.servers"})
            sum += switch_.count_entries(table);
        return sum;
    }
    void write(const Bytes& bytes) {
        control::WriteRequest request;
        if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
        for (const control::Update& update : request.updates()) {
            // A frame that goes round in no time goes round for ever: no cable does that.
            if (update.port().loopback() && update.port().loop_time() == 0) return;
        }
        lawful_ = false;
        const size_t before = entries();
        try {
            soft_switch::Change(switch_, generator_, now_).apply(request);
        } catch (const std::invalid_argument&) {
            check(entries() == before, "a request is done, or not at all");
        }
    }
    void read(const Bytes& bytes) {
        control::ReadRequest request;
        control::ReadResponse response;
        if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
        try {
            soft_switch::Reading(switch_).read(request, response);
        } catch (const std::invalid_argument&) {
        }
    }

    struct Waiting {
        size_t place;
        Bytes frame;
    };

    Time now_ = 10'000'000;  ///< past every timeout of registers that begin as zeros
    bool lawful_ = true;
    p4::Switch<p4::generated::Program> switch_{rdma::icrc_of};
    soft_switch::Generator generator_;
    std::vector<std::unique_ptr<rdma::Responder>> servers_;
    std::deque<Waiting> waiting_;
    Judge judge_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto harness = std::make_unique<Harness>();
    for (const Step& step : steps_of({data, size})) harness->take(step);
    return 0;
}
