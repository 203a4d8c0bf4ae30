// The C ABI, used as from C, with the protocol by hand for a switch.
#include <gtest/gtest.h>

#include "runs.hpp"
#include "system/abi.hpp"

namespace {
using Object = polysome::system::SystemObject<polysome::system::model::Switch, polysome::tiny::SplitNf<polysome::Fifo>,
                                              polysome::system::model::Switch::PortConfig>;
}
POLYSOME_SYSTEM_OBJECT(Object)

namespace {

using namespace polysome;
using namespace polysome::system;
using namespace polysome::system::model;

constexpr Time start = 1'700'000'000'000'000'000;

/// The usual system of runs.hpp in C.
struct InC {
    std::vector<polysome_cable> traffic;
    std::vector<polysome_server> servers;
    std::vector<uint16_t> pairs = {0, 1, 0, 1};
    std::vector<polysome_fault> faults;
    polysome_system system{};

    InC() {
        const SystemConfig config = usual();
        for (const CableConfig& cable : config.traffic) traffic.push_back(in_c(cable));
        for (const ServerConfig& server : config.servers) {
            polysome_server made{};
            made.cable = in_c(server.cable);
            std::copy(server.nic.mac.begin(), server.nic.mac.end(), made.mac);
            made.ip = server.nic.ip;
            made.rkey = server.nic.rkey;
            made.region = server.nic.region_size;
            made.read_time = server.nic.read_time;
            servers.push_back(made);
        }
        system.seed = 3;
        system.start = start;
        std::copy(switch_mac.begin(), switch_mac.end(), system.switch_mac);
        system.switch_ip = switch_ip;
        system.nf_cable = in_c(config.nf_cable);
        system.nf_queue = 1024;
        system.nf_burst = 32;
        system.nf_frame_time = 20;
        system.queue_pair_bits = 10;
        system.recirculation = 68;
        system.generator = 69;
        system.controller_port = 64;
        system.queue_bytes = 1 << 19;
        system.sweep = 500'000;
        system.poll = 1'000'000;
        system.longest_queueing = 100'000;
        system.drain = 1'000'000'000;
    }

    /// Points into the vectors as they are now.
    const polysome_system* get() {
        system.traffic = traffic.data();
        system.traffic_count = traffic.size();
        system.servers = servers.data();
        system.server_count = servers.size();
        system.queue_pairs = pairs.data();
        system.queue_pair_count = pairs.size();
        system.faults = faults.data();
        system.fault_count = faults.size();
        return &system;
    }

    static polysome_cable in_c(const CableConfig& cable) {
        return {{cable.out.rate, cable.out.delay, cable.out.queue},
                {cable.in.rate, cable.in.delay, cable.in.queue},
                cable.port,
                {}};
    }
};

struct Handle {
    void* p;
    std::string error;

    explicit Handle(InC& system, uint8_t open = 1, size_t config_size = 1) {
        char said[200] = "";
        p = polysome_system_create(system.get(), &open, config_size, said, sizeof said);
        error = said;
    }
    ~Handle() { polysome_system_destroy(p); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    int arrive(Time time, uint16_t port, const Bytes& bytes) const {
        const polysome_arrival arrival{time, bytes.data(), static_cast<uint32_t>(bytes.size()), port, 0};
        return polysome_system_arrive(p, &arrival, 1);
    }
    std::vector<Told> records() const {
        const uint8_t* data = nullptr;
        const size_t n = polysome_system_records(p, &data);
        return told({data, n});
    }
};

polysome_fault fault(uint8_t kind, uint8_t where, uint16_t index, double probability, Time from = 0, Time to = 0) {
    return {kind, where, index, 0, probability, 0, from, to};
}

TEST(Abi, ARunFromCreateToReport) {
    InC in_c;
    const Handle handle(in_c);
    ASSERT_NE(handle.p, nullptr) << handle.error;
    ASSERT_EQ(handle.arrive(start, 0, packet('s', 2, 200)), 0);
    ASSERT_EQ(handle.arrive(start + 1000, 1, packet('d', 2, 200)), 0);
    ASSERT_EQ(polysome_system_finish(handle.p), 0);
    std::vector<Record> kinds_told;
    for (const Told& record : handle.records()) kinds_told.push_back(record.kind);
    EXPECT_EQ(kinds_told, (std::vector{Record::decided, Record::answered, Record::decided, Record::dropped,
                                       Record::left, Record::end}));
    const std::string report = polysome_system_report(handle.p);
    EXPECT_NE(report.find("packets in\t2\npackets left\t1\npackets dropped\t1\n"), report.npos);
    EXPECT_NE(report.find("nf dropped: told to\t1\n"), report.npos);
    EXPECT_TRUE(handle.records().empty());
}

TEST(Abi, NamesOfNumbers) {
    InC in_c;
    const Handle handle(in_c);
    EXPECT_STREQ(polysome_system_reason(handle.p, 10), "told to");
    EXPECT_STREQ(polysome_system_reason(handle.p, 999), "");
    EXPECT_STREQ(polysome_system_link(handle.p, 0), "traffic0 out");
    EXPECT_STREQ(polysome_system_link(handle.p, 6), "nf out");
    EXPECT_STREQ(polysome_system_link(handle.p, 99), "");
    EXPECT_STREQ(polysome_system_cause(handle.p, 1), "switch: a packet went nowhere");
    EXPECT_STREQ(polysome_system_cause(handle.p, 9999), "");
}

TEST(Abi, CapturedLinksTellEveryFrame) {
    InC in_c;
    in_c.system.capture = 1;
    const Handle handle(in_c);
    handle.arrive(start, 0, packet('s', 2, 200));
    polysome_system_finish(handle.p);
    std::vector<std::string> path;
    for (const Told& record : handle.records()) {
        if (record.kind == Record::frame) path.emplace_back(polysome_system_link(handle.p, record.port));
    }
    std::sort(path.begin(), path.end());
    // A WRITE with its ACK, fields and edits, a READ with its response.
    EXPECT_EQ(path, (std::vector<std::string>{"nf in", "nf out", "server0 in", "server0 in", "server0 out",
                                              "server0 out", "traffic0 in", "traffic1 out"}));
}

TEST(Abi, ConfigChangesHappenAtTheirTime) {
    InC in_c;
    const Handle handle(in_c);
    const uint8_t closed = 0;
    ASSERT_EQ(polysome_system_change_at(handle.p, start + 50'000, &closed, 1), 0);
    handle.arrive(start, 0, packet('s', 2, 200));
    handle.arrive(start + 100'000, 0, packet('s', 2, 200));
    polysome_system_finish(handle.p);
    const std::string report = polysome_system_report(handle.p);
    EXPECT_NE(report.find("packets left\t1\npackets dropped\t1\n"), report.npos) << report;
}

TEST(Abi, ErrorsAreWords) {
    InC in_c;
    EXPECT_EQ(Handle(in_c, 1, 0).error, "the config is malformed");
    {
        const Handle handle(in_c);
        EXPECT_EQ(handle.arrive(start, 7, packet('s', 2, 200)), 1);
        EXPECT_STREQ(polysome_system_error(handle.p), "there is no port 7");
        const uint8_t bad[] = {1, 2};
        polysome_system_change_at(handle.p, start, bad, 2);
        handle.arrive(start + 1, 0, packet('s', 2, 200));
        EXPECT_EQ(polysome_system_finish(handle.p), 1);
        EXPECT_STREQ(polysome_system_error(handle.p), "a config change is malformed");
    }
    in_c.pairs = {0, 2};
    EXPECT_EQ(Handle(in_c).error, "a queue pair is of a server that there is not");
    in_c.pairs = {0, 1};
    in_c.traffic[1].port = 0;
    EXPECT_EQ(Handle(in_c).error, "port 0 of the switch has two cables");
}

TEST(Abi, FaultsGoWhereTheyBelong) {
    InC in_c;
    in_c.faults = {fault(0, 1, 1, 0.25),    fault(3, 1, 0, 0.5),          fault(3, 0, 0, 0.125),
                   fault(4, 2, 2, 0, 5, 9), fault(5, 1, 0, 0, 10, never), fault(6, 0, 0, 0, 20, 30),
                   fault(7, 1, 1, 0, 40)};
    const SystemConfig config = config_of(*in_c.get());
    EXPECT_EQ(config.servers[1].cable.in_faults.loss, 0.25);
    EXPECT_EQ(config.servers[1].cable.out_faults.loss, 0.25);
    EXPECT_EQ(config.servers[0].cable.out_faults.corrupt, 0.5);
    EXPECT_GT(config.servers[0].cable.out_faults.past_checksum, 0);
    EXPECT_EQ(config.servers[0].cable.in_faults.past_checksum, 0) << "the switch has no second check";
    EXPECT_EQ(config.nf_cable.out_faults.past_checksum, 0);
    EXPECT_EQ(config.traffic[2].in_faults.down.at(0).from, start + 5);
    EXPECT_EQ(config.servers[0].dead.at(0).to, never);
    EXPECT_EQ(config.nf.stuck.at(0).to, start + 30);
    EXPECT_EQ(config.servers[1].failures.at(0), start + 40);
}

TEST(Abi, FaultsThatMakeNoSenseAreRefused) {
    const auto error = [](const polysome_fault& bad) {
        InC in_c;
        in_c.faults = {bad};
        return Handle(in_c).error;
    };
    const std::string nowhere = "a fault is at a server, port or NF that there is not";
    EXPECT_EQ(error(fault(0, 1, 2, 0.5)), nowhere);
    EXPECT_EQ(error(fault(0, 2, 3, 0.5)), nowhere);
    EXPECT_EQ(error(fault(0, 3, 0, 0.5)), nowhere);
    EXPECT_EQ(error(fault(5, 0, 0, 0, 1, 2)), nowhere);
    EXPECT_EQ(error(fault(6, 1, 0, 0, 1, 2)), nowhere);
    EXPECT_EQ(error(fault(0, 0, 0, 1.5)), "a fault's probability is not between 0 and 1");
    EXPECT_EQ(error(fault(4, 0, 0, 0, 2, 2)), "a fault's interval is empty");
    EXPECT_EQ(error(fault(9, 0, 0, 0.5)), "there is no fault of kind 9");
}

}  // namespace
