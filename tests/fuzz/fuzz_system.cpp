/// The simulated system of an example through its C ABI: the emitted program, NF host, responders, links with faults.
/// Its controller has brought it up and is not there any more: a queue pair that goes down stays down. Frames come from
/// users, from the hosts of servers and NF, from the controller's port, from one without a role. Each packet has one
/// fate, and nothing forged is on a link.
///
/// Kinds of steps: 0 to 5 a frame from `place`; 6 the NF's config changes: `bytes` are patches to the one that it has;
/// 7 faults of the run, a bit of `place` each.
#include <array>
#include <map>
#include <string>

#include "described.hpp"
#include "nf.hpp"
#include "program.hpp"
#include "steps.hpp"
#include "switch/switch.hpp"
#include "system/abi.hpp"

POLYSOME_SYSTEM(polysome::p4::generated::Program, fuzz::Nf)

using namespace polysome;
using namespace fuzz;

namespace {

constexpr uint16_t at_server = 0x4000, at_nf = 0x8000, at_switch = 0xc000;

/// Where frames come from: two users, the NF's host, two servers' hosts, the controller's port, a plain one.
std::array<uint16_t, 7> places() {
    const uint16_t controller = at_switch | controller_port;
    return {0, 1, at_nf, at_server, at_server | 1, controller, at_switch | plain_port};
}

std::vector<polysome_fault> faults_of(const std::vector<Step>& steps) {
    constexpr uint64_t ms = 1'000'000, never = ~uint64_t{0};
    constexpr polysome_fault all[] = {
        {5, 1, 0, 0, 0, 0, 1 * ms, 3 * ms},    // a server is away
        {7, 1, 1, 0, 0, 0, 2 * ms, never},     // a NIC refuses
        {0, 0, 0, 0, 0.1, 0, 0, never},        // the NF's link loses
        {3, 1, 0, 0, 0.1, 0, 0, never},        // a server's flips bits
        {1, 1, 1, 0, 0.2, 0, 0, never},        // ... repeats
        {2, 0, 0, 0, 0.2, ms / 10, 0, never},  // frames of the NF overtake
        {4, 1, 1, 0, 0, 0, 4 * ms, 6 * ms},    // a link is down
        {6, 0, 0, 0, 0, 0, ms / 2, ms},        // the NF is stuck
    };
    unsigned chosen = 0;
    for (const Step& step : steps) chosen |= step.kind % 8 == 7 ? step.place : 0u;
    std::vector<polysome_fault> faults;
    for (size_t i = 0; i < std::size(all); ++i)
        if ((chosen >> i & 1) != 0) faults.push_back(all[i]);
    return faults;
}

/// What the controller does, through the C ABI.
class Controlled {
  public:
    using Values = std::initializer_list<uint64_t>;
    explicit Controlled(void* handle) : handle_(handle) {}

    void put(const char* table, Values key, const char* action, Values parameters) {
        done(polysome_system_put(handle_, table, key.begin(), key.size(), action, parameters.begin(),
                                 parameters.size()));
    }
    void remove(const char* table, Values key) {
        done(polysome_system_remove(handle_, table, key.begin(), key.size()));
    }
    void clear(const char* table) { done(polysome_system_clear(handle_, table)); }
    void set_register(const char* name, size_t index, uint64_t value, const char* field) {
        done(polysome_system_set_register(handle_, name, index, field, value));
    }
    void set_meter(const char* name, size_t index, uint64_t rate, uint64_t burst) {
        done(polysome_system_set_meter(handle_, name, index, rate, burst));
    }
    void set_mirror(uint16_t session, uint16_t port, uint32_t length) {
        done(polysome_system_set_mirror(handle_, session, port, length));
    }
    void set_group(uint16_t group, std::initializer_list<uint16_t> ports) {
        done(polysome_system_set_group(handle_, group, ports.begin(), ports.size()));
    }
    void set_port(const polysome_port& port) { done(polysome_system_set_port(handle_, &port)); }
    void set_generator(uint16_t port, uint64_t period, size_t count) {
        done(polysome_system_set_generator(handle_, port, period, count));
    }
    void clear_memory(size_t server) { done(polysome_system_clear_memory(handle_, server)); }
    void reset(size_t server, uint32_t pair, uint32_t peer, uint32_t number, uint32_t psn) {
        uint32_t made = 0, first = 0;
        done(polysome_system_reset(handle_, server, pair, peer, &made, &first));
        check(made == number && first == psn, "one seed, the same numbers");
    }

  private:
    void done(int status) const { check(status == 0, polysome_system_error(handle_)); }

    void* handle_;
};

class Simulated {
  public:
    explicit Simulated(std::vector<Step> steps) : steps_(std::move(steps)), faults_(faults_of(steps_)) {
        polysome_system system = described();
        system.faults = faults_.data();
        system.fault_count = faults_.size();
        char error[256] = {};
        const View config = config_blob();
        handle_ = polysome_system_create(&system, config.data(), config.size(), error, sizeof error);
        check(handle_ != nullptr, error);
        Controlled controlled(handle_);
        set_up(controlled);
    }
    Simulated(const Simulated&) = delete;
    Simulated& operator=(const Simulated&) = delete;
    ~Simulated() { polysome_system_destroy(handle_); }

    void run() {
        for (const Step& step : steps_) {
            now_ += std::min(step.time(), longest_wait);
            if (!take(step)) return;
            look();
        }
        if (polysome_system_finish(handle_, never) != 0) return;  // a config that came last was none
        look();
        report();
    }

  private:
    static constexpr uint64_t longest_wait = 100'000'000, never = ~uint64_t{0};

    /// False if the run is over: a changed config was none of the NF's.
    bool take(const Step& step) {
        if (step.kind % 8 == 7) return true;
        if (step.kind % 8 == 6) {
            Bytes blob(config_blob().begin(), config_blob().end());
            patch(blob, step.bytes);
            return polysome_system_change_at(handle_, now_, blob.data(), blob.size()) == 0;
        }
        ++count.frames;
        const Exact exact(step.bytes);
        const std::span<const uint8_t> frame = exact.bytes();
        const polysome_arrival arrival{.time = now_,
                                       .data = frame.data(),
                                       .size = static_cast<uint32_t>(frame.size()),
                                       .port = places()[step.place % places().size()]};
        return polysome_system_arrive(handle_, &arrival, 1, never) == 0;
    }

    /// What was put on links since the last time.
    void look() {
        const uint8_t* data = nullptr;
        const size_t size = polysome_system_records(handle_, &data);
        for (size_t at = 0; at < size;) {
            uint64_t first = 0;
            std::memcpy(&first, data + at, sizeof first);
            const View bytes(data + at + system::Recorder::head, first >> 32);
            at += system::Recorder::head + bytes.size();
            if ((first & 0xff) != static_cast<uint8_t>(system::Record::frame)) continue;
            const std::string link = polysome_system_link(handle_, static_cast<uint16_t>(first >> 16));
            if (link == "nf out") to_nf(bytes);
            if (link.starts_with("server") && link.ends_with("out")) to_server(bytes);
        }
    }
    static bool ours(View frame) {
        const auto switch_mac = system::mac_of(described().switch_mac);
        return frame.size() >= 12 && std::equal(switch_mac.begin(), switch_mac.end(), frame.begin() + 6);
    }
    static void to_nf(View frame) {
        check(ours(frame) && Tag::accepts(frame.data(), frame.size()), "an NF hears the switch only");
    }
    static void to_server(View frame) {
        if (!ours(frame) || frame.size() < 54 || load<uint16_t>(frame.data() + 12) != 0x0800 ||
            load<uint32_t>(frame.data() + 26) != described().switch_ip)
            return;
        rdma::Frame request;
        check(rdma::parse(frame, request) == rdma::Flaw::none, "what the switch says to servers is a request", frame);
        check(rdma::icrc_holds(rdma::datagram(frame)), "with its ICRC", frame);
        check(!rdma::is_response(request.bth.opcode), "and no answer", frame);
    }

    void report() const {
        std::map<std::string, uint64_t> values;
        const std::string text = polysome_system_report(handle_);
        for (size_t at = 0; at < text.size();) {
            const size_t tab = text.find('\t', at), end = text.find('\n', tab);
            values[text.substr(at, tab - at)] = std::stoull(text.substr(tab + 1));
            at = end == std::string::npos ? text.size() : end + 1;
        }
        const uint64_t fates = values.at("packets left") + values.at("packets dropped") + values.at("packets held") +
                               values.at("packets lost");
        check(values.at("packets in") == fates, "each packet has one fate");
    }

    std::vector<Step> steps_;
    std::vector<polysome_fault> faults_;
    void* handle_ = nullptr;
    uint64_t now_ = start;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Simulated run(steps_of({data, size}));
    run.run();
    return 0;
}
