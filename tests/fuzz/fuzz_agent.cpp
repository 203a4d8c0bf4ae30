/// The agent with its soft device, on a cable of a network namespace that this process makes for itself (as root):
/// frames go through the kernel, the socket's filter, the VLAN tags that are put back, the responder, and back. Between
/// them the questions of a controller, and configurations.
///
/// Kinds of steps: 0 to 3 a frame; bits of `place`: 1 it is addressed to us, 2 with the number of a queue pair, 4 the
/// PSN that is expected, 8 the region's key, 16 checksum and ICRC made right then. 4 a queue pair is reset, 5 the
/// region cleared, 6 states and counters, 7 a configuration, JSON.
#include <google/protobuf/util/json_util.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstdlib>

#include "rdma/agent/netlink.hpp"
#include "rdma/agent/settings.hpp"
#include "rdma/agent/soft_device.hpp"
#include "steps.hpp"

using namespace polysome;
using namespace fuzz;

namespace {

constexpr rdma::Mac switch_mac = {2, 0x70, 0x6f, 0x6c, 0x79, 1};
constexpr uint32_t switch_ip = 0xc613fffe, pairs = 3;

/// Our end of the cable and the switch's; Failure(3) without the right to make it.
void make_cable() {
    if (unshare(CLONE_NEWNET) != 0) throw control::Failure(3, "no network namespace: start it as root");
    const char* const commands =
        "set -e; sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1;"
        "ip link add agent mtu 4000 type veth peer name switch mtu 4000;"
        "ip addr add 198.19.255.16/24 dev agent; ip link set agent up; ip link set switch arp off up";
    if (std::system(commands) != 0) throw control::Failure(3, "no cable");
}

agent::Settings settings() {
    return {.server = "memory1",
            .device = "soft",
            .interface = "agent",
            .region = 1 << 14,
            .queue_pairs = pairs,
            .mtu = 1024,
            .switch_mac = switch_mac,
            .switch_ip = switch_ip};
}

class Harness {
  public:
    Harness() : device_(settings()), near_("switch") {
        const agent::Station station("agent");
        agent::introduce_switch(station, switch_ip, switch_mac);
    }

    /// All as it is at the start of a process, but for what is random: keys and numbers.
    void begin() {
        device_.clear();
        for (uint32_t pair = 0; pair < pairs; ++pair) reset(pair, 0x100 + pair);
        drain();
    }

    void take(const Step& step) {
        now_ += step.time();
        switch (step.kind % 8) {
            case 4:
                return reset(step.place % pairs, static_cast<uint32_t>(step.wait) << 16 | step.place);
            case 5:
                return device_.clear();
            case 6:
                check(device_.pairs().size() == pairs, "every queue pair is told of");
                static_cast<void>(device_.condition());
                return;
            case 7:
                return configuration(step.bytes);
            default:
                return receive(step);
        }
    }

  private:
    void reset(uint32_t pair, uint32_t peer) {
        const agent::PairStatus status = device_.reset(pair, peer & rdma::PSN_MASK);
        check(status.ready && status.peer == (peer & rdma::PSN_MASK), "a queue pair that is reset is ready");
        expected_[pair] = status.psn;
    }

    void receive(const Step& step) {
        Bytes frame = step.bytes;
        if (step.place % 2 != 0) address(frame);
        dress(frame, step.place);
        if (frame.size() < rdma::ETHERNET_SIZE) frame.resize(rdma::ETHERNET_SIZE);  // the kernel sends no less
        ++count.frames;
        near_.send(frame);
        near_.flush();
        device_.work(now_);
        drain();
    }
    void address(Bytes& frame) const {
        const agent::Identity& identity = device_.identity();
        std::copy_n(identity.mac.begin(), std::min(identity.mac.size(), frame.size()), frame.begin());
        if (frame.size() < rdma::BTH_AT) return;
        store(frame.data() + rdma::ETHERNET_SIZE + 12, switch_ip);
        store(frame.data() + rdma::ETHERNET_SIZE + 16, identity.ip);
    }
    void dress(Bytes& frame, uint8_t with) {
        if (frame.size() < rdma::EXTENSION_AT + rdma::RETH_SIZE) return;
        uint8_t* const bth = frame.data() + rdma::BTH_AT;
        const uint32_t pair = bth[7] % pairs;
        if ((with & 2) != 0) store(bth + 4, device_.pairs()[pair].number);
        if ((with & 4) != 0) {
            store(bth + 8, (load<uint32_t>(bth + 8) & 0x80000000) | expected_[pair]);
            expected_[pair] = (expected_[pair] + 1) & rdma::PSN_MASK;
        }
        if ((with & 8) != 0) store(frame.data() + rdma::EXTENSION_AT + 8, device_.identity().rkey);
        if ((with & 16) != 0) repair(frame);
    }

    /// What came back on the cable.
    void drain() {
        std::array<Arrival, host::Interface::batch> arrivals;
        for (size_t n = 0; (n = near_.receive(0, 0, arrivals.data())) > 0;) {
            for (const Arrival& arrival : std::span(arrivals).first(n)) answer({arrival.data, arrival.size});
        }
    }
    void answer(View bytes) const {
        rdma::Frame frame;
        const rdma::Flaw flaw = rdma::parse(bytes, frame);
        if (flaw == rdma::Flaw::not_roce) return;  // the kernel's own: ARP, ICMP
        check(flaw == rdma::Flaw::none && rdma::icrc_holds(rdma::datagram(bytes)), "an answer is a good frame", bytes);
        check(rdma::is_response(frame.bth.opcode), "an answer is none but that");
        check(frame.source == device_.identity().mac && frame.source_ip == device_.identity().ip, "it is ours");
        check(frame.destination == switch_mac && frame.destination_ip == switch_ip, "it is for the switch");
    }

    static void configuration(const Bytes& text) {
        control::AgentConfig config;
        const auto status = google::protobuf::util::JsonStringToMessage(std::string(text.begin(), text.end()), &config);
        if (!status.ok()) return;
        try {
            const agent::Settings found = agent::checked(config);
            check(found.outstanding_reads != 0 && !found.interface.empty(), "settings that were checked are of use");
        } catch (const control::Failure& failure) {
            check(failure.code == 2, "a configuration is to blame");
        }
    }

    agent::SoftDevice device_;
    host::Interface near_;
    std::array<uint32_t, pairs> expected_{};
    uint64_t now_ = 1;
};

std::unique_ptr<Harness> harness;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    try {
        make_cable();
        harness = std::make_unique<Harness>();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::exit(3);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    harness->begin();
    for (const Step& step : steps_of({data, size})) harness->take(step);
    return 0;
}
