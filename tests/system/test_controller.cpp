// The controller's steps, and what it writes into the program's tables.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "system/controller.hpp"
#include "system/deployment.hpp"

namespace {

using namespace polysome;
using namespace polysome::system;

// ---------------------------------------------------------------- steps

/// Writes down what is asked of switch and agents.
struct Rig final : SplitTables, AgentDriver {
    std::vector<std::string> log;
    std::vector<bool> is_up = std::vector<bool>(2);
    bool answers = true;

    bool up(size_t qp) override { return is_up[qp]; }
    void set_up(size_t qp, bool up) override {
        is_up[qp] = up;
        log.push_back((up ? "up " : "down ") + std::to_string(qp));
    }
    void set_queue_pair(size_t qp, const QueuePairEntry& entry) override {
        log.push_back("set " + std::to_string(qp) + " qpn " + std::to_string(entry.numbers.qpn) + " psn " +
                      std::to_string(entry.numbers.psn) + " ours " + std::to_string(entry.answers_to));
    }
    void clear_history(size_t qp) override { log.push_back("clear " + std::to_string(qp)); }
    std::optional<QueuePairNumbers> reset(size_t server, uint32_t pair, uint32_t answers_to) override {
        log.push_back("reset " + std::to_string(server) + "." + std::to_string(pair) + " to " +
                      std::to_string(answers_to));
        if (!answers) return {};
        return QueuePairNumbers{77, 88};
    }
    std::vector<std::string> take() { return std::exchange(log, {}); }
};

using Lines = std::vector<std::string>;

struct Started {
    Rig rig;
    Controller controller;

    Started()
        : controller(rig, rig, {.poll = 1000, .longest_queueing = 500, .index_bits = 10},
                     {{.server = 4, .pair = 0, .answers_to = 1024, .numbers = {10, 20}},
                      {.server = 5, .pair = 3, .answers_to = 1025, .numbers = {11, 21}}}) {
        controller.start();
    }
};

TEST(Controller, StartsEveryQueuePair) {
    Started s;
    EXPECT_EQ(s.rig.take(), (Lines{"set 0 qpn 10 psn 20 ours 1024", "clear 0", "up 0", "set 1 qpn 11 psn 21 ours 1025",
                                   "clear 1", "up 1"}));
    s.controller.poll(1000);
    EXPECT_EQ(s.rig.take(), Lines{});
    EXPECT_FALSE(s.controller.busy());
}

TEST(Controller, RestoresWhatWentDownInItsOrder) {
    Started s;
    s.rig.take();
    EXPECT_EQ(s.controller.next(), never);
    s.rig.is_up[1] = false;
    s.controller.poll(1000);
    EXPECT_EQ(s.rig.take(), (Lines{"down 1", "clear 1"}));
    EXPECT_EQ(s.controller.phase(1), Controller::Phase::draining);
    EXPECT_TRUE(s.controller.busy());
    EXPECT_EQ(s.controller.next(), 1500u);
    s.controller.poll(1499);
    EXPECT_EQ(s.rig.take(), Lines{}) << "what waits in the switch has not left yet";
    s.controller.poll(1500);
    EXPECT_EQ(s.rig.take(), (Lines{"reset 5.3 to 2049", "set 1 qpn 77 psn 88 ours 2049", "clear 1", "up 1"}));
    EXPECT_FALSE(s.controller.busy());
    EXPECT_EQ(s.controller.next(), never);
    EXPECT_EQ(s.controller.downs(), 1u);
    EXPECT_EQ(s.controller.restores(), 1u);
}

TEST(Controller, AsksADeadServerAgainAndAgainEachTimeFromTheStart) {
    Started s;
    s.rig.take();
    s.rig.is_up[0] = false;
    s.rig.answers = false;
    for (Time t = 1000; t <= 2000; t += 500) s.controller.poll(t);
    EXPECT_EQ(s.rig.take(), (Lines{"down 0", "clear 0", "reset 4.0 to 2048", "down 0", "clear 0", "reset 4.0 to 2048",
                                   "down 0", "clear 0"}))
        << "a sweep may have found it silent in between";
    EXPECT_EQ(s.controller.phase(0), Controller::Phase::draining);
    s.rig.answers = true;
    s.controller.poll(2500);
    EXPECT_EQ(s.controller.phase(0), Controller::Phase::serving);
    EXPECT_EQ(s.controller.downs(), 1u);
}

TEST(Controller, OurNumbersAreNeverReservedNorTheLastOne) {
    std::set<uint32_t> seen;
    for (uint32_t generation = 1; generation < 40'000; ++generation) {
        const uint32_t number = answers_to(generation, 1, 10);
        EXPECT_GT(number, 1u);
        EXPECT_LT(number, 0xffffffu);
        EXPECT_EQ(number % 1024, 1u);
        EXPECT_NE(number, answers_to(generation + 1, 1, 10));
        seen.insert(number);
    }
    EXPECT_EQ(seen.size(), (1u << 14) - 2);
}

// ---------------------------------------------------------------- tables

/// Keeps entries as text, and refuses what a switch refuses: an entry that is there, a change of one that is not.
struct Device final : p4::SwitchDriver {
    std::map<std::string, std::string> entries;
    std::map<std::string, uint64_t> registers;
    std::map<std::string, std::string> others;

    static std::string text(u128 value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, "%llx", static_cast<unsigned long long>(value));
        return digits;
    }
    static std::string place(std::string_view table, std::span<const p4::Match> key) {
        std::string name(table);
        for (const p4::Match& match : key) name += " " + text(match.value);
        return name;
    }
    static std::string what(std::string_view action, std::span<const u128> params) {
        std::string name(action);
        for (const u128 param : params) name += " " + text(param);
        return name;
    }

    void add_entry(std::string_view table, std::span<const p4::Match> key, std::string_view action,
                   std::span<const u128> params, uint32_t) override {
        if (!entries.emplace(place(table, key), what(action, params)).second) throw std::invalid_argument("there");
    }
    void modify_entry(std::string_view table, std::span<const p4::Match> key, std::string_view action,
                      std::span<const u128> params) override {
        entries.at(place(table, key)) = what(action, params);
    }
    void delete_entry(std::string_view table, std::span<const p4::Match> key) override {
        if (entries.erase(place(table, key)) == 0) throw std::invalid_argument("not there");
    }
    void clear_entries(std::string_view) override { FAIL(); }
    void set_default(std::string_view, std::string_view, std::span<const u128>) override { FAIL(); }
    size_t count_entries(std::string_view table) const override {
        size_t count = 0;
        for (const auto& [name, action] : entries) count += name.starts_with(std::string(table) + " ");
        return count;
    }
    uint64_t read_register(std::string_view name, size_t index, std::string_view field) const override {
        return registers.at(std::string(name) + " " + std::to_string(index) + " " + std::string(field));
    }
    void write_register(std::string_view name, size_t index, uint64_t value, std::string_view field) override {
        registers[std::string(name) + " " + std::to_string(index) + " " + std::string(field)] = value;
    }
    p4::CounterValue read_counter(std::string_view, size_t) const override { return {}; }
    void set_meter(std::string_view name, size_t index, const p4::MeterRates& rates) override {
        others[std::string(name) + " " + std::to_string(index)] =
            std::to_string(rates.cir) + " " + std::to_string(rates.cbs);
    }
    void set_mirror(uint16_t session, uint16_t port, uint32_t max_length, uint8_t queue) override {
        others["session " + std::to_string(session)] =
            std::to_string(port) + " " + std::to_string(max_length) + " " + std::to_string(queue);
    }
    void set_multicast(uint16_t group, std::span<const uint16_t> ports, uint16_t) override {
        std::string& members = others["group " + std::to_string(group)];
        for (const uint16_t port : ports) members += std::to_string(port) + " ";
    }
};

SystemConfig three_servers() {
    SystemConfig config;
    for (uint16_t i = 0; i < 3; ++i) {
        config.traffic.push_back({.port = static_cast<uint16_t>(8 + i), .out = {}, .in = {}});
        ServerConfig server;
        server.cable.port = static_cast<uint16_t>(40 + i);
        server.nic.mac = {2, 0, 0, 0, 1, static_cast<uint8_t>(i)};
        server.nic.ip = 0x0a000000u + i;
        server.nic.rkey = 0x70u + i;
        config.servers.push_back(server);
        config.queue_pairs.insert(config.queue_pairs.end(), {i, i});
    }
    config.nf_cable.port = 32;
    return config;
}

TEST(Tables, AreFilledAsThePlanSays) {
    Device device;
    const Deployment deployment{.nf_mac = {2, 0, 0, 0, 0, 9},
                                .buckets = 60,
                                .depths = {54, 42},
                                .verdicts = {0x8005, 0x8006},
                                .stations = {{{6, 5, 4, 3, 2, 1}, 3}},
                                .fallback_rate = 1000,
                                .fallback_burst = 5000};
    P4Tables tables(device, three_servers(), deployment);
    tables.fill();
    EXPECT_EQ(device.entries.at("Ingress.verdicts 1"), "send 9");
    EXPECT_EQ(device.entries.at("Ingress.verdicts 8005"), "flood 1");
    EXPECT_EQ(device.others.at("group 1"), "8 10 ");
    EXPECT_EQ(device.others.at("group 2"), "9 10 ");
    EXPECT_EQ(device.entries.at("Ingress.floods 3"), "flood_station 3") << "behind the verdicts' groups";
    EXPECT_EQ(device.others.at("group 3"), "40 41 42 ");
    EXPECT_EQ(device.entries.at("Ingress.floods 29"), "flood_station 5");
    EXPECT_EQ(device.others.at("group 5"), "3 40 42 ") << "to all others, not back";
    EXPECT_EQ(device.count_entries("Ingress.floods"), 4u);
    EXPECT_EQ(device.entries.at("Ingress.nf_links 2 0"), "to_nf 20 0");
    EXPECT_EQ(device.entries.at("Ingress.nf_links 2 2"), "to_nf 20 2");
    EXPECT_EQ(device.others.at("session 1"), "32 67 0");
    EXPECT_EQ(device.others.at("session 2"), "32 55 0");
    EXPECT_EQ(device.others.count("session 0"), 0u);
    EXPECT_EQ(device.entries.at("Egress.nf_stations 20"), "nf 20000000009");
    EXPECT_EQ(device.entries.at("Egress.servers 29"), "server 20000000101 a000001 71");
    EXPECT_EQ(device.entries.at("Ingress.servers 5"), "to_server 2a");
    EXPECT_EQ(device.entries.at("Ingress.stations 20000000102"), "forward 2a");
    EXPECT_EQ(device.entries.at("Ingress.stations 60504030201"), "forward 3");
    EXPECT_EQ(device.others.at("Ingress.fallback 0"), "8000 5000");
    EXPECT_EQ(device.count_entries("Ingress.buckets"), 60u);
}

TEST(Tables, ABucketsBackupIsOnAnotherServerAndTheyAreSpread) {
    Device device;
    const SystemConfig config = three_servers();
    P4Tables tables(device, config, {.nf_mac = {}, .buckets = 60, .depths = {}, .verdicts = {}, .stations = {}});
    tables.fill();
    std::map<std::pair<int, int>, int> moves;
    for (int bucket = 0; bucket < 60; ++bucket) {
        unsigned primary = 0, backup = 0;
        const std::string place = "Ingress.buckets 1 " + Device::text(static_cast<u128>(bucket));
        ASSERT_EQ(std::sscanf(device.entries.at(place).c_str(), "choose %x %*x %x", &primary, &backup), 2);
        EXPECT_NE(config.queue_pairs.at(primary), config.queue_pairs.at(backup));
        ++moves[{config.queue_pairs[primary], config.queue_pairs[backup]}];
    }
    EXPECT_EQ(moves.size(), 6u) << "the buckets of a server that is down fall on both others";
    EXPECT_EQ(device.others.count("Ingress.fallback 0"), 0u);
}

TEST(Tables, StationsAtPortsOfOtherRolesGetNothingThatIsToAGroup) {
    Device device;
    const SystemConfig config = three_servers();
    Deployment deployment{.nf_mac = {}, .buckets = 2, .depths = {}, .verdicts = {}, .stations = {}};
    uint8_t last = 0;
    for (const uint16_t port : {config.traffic[0].port, config.nf_cable.port, config.recirculation, config.generator,
                                config.controller_port, config.servers[0].cable.port}) {
        deployment.stations.push_back({{2, 0, 0, 0, 3, ++last}, port});
    }
    P4Tables(device, config, deployment).fill();
    EXPECT_EQ(device.count_entries("Ingress.floods"), 3u);
    EXPECT_EQ(device.others.at("group 1"), "41 42 ");
    EXPECT_EQ(device.others.at("group 3"), "40 41 ");
    EXPECT_EQ(device.others.count("group 4"), 0u);
}

TEST(Tables, OneServerBacksItselfUp) {
    Device device;
    SystemConfig config = three_servers();
    config.servers.resize(1);
    config.queue_pairs = {0};
    P4Tables tables(device, config, {.nf_mac = {}, .buckets = 2, .depths = {}, .verdicts = {}, .stations = {}});
    tables.fill();
    EXPECT_EQ(device.entries.at("Ingress.buckets 1 1"), "choose 0 28 0 28");
    EXPECT_EQ(device.count_entries("Ingress.floods"), 0u) << "nobody else is there";
}

TEST(Tables, AQueuePairIsEnteredAndLaterReplaced) {
    Device device;
    P4Tables tables(device, three_servers(), {});
    QueuePairEntry entry{.server = 1, .pair = 0, .answers_to = 1026, .numbers = {500, 600}};
    tables.set_queue_pair(2, entry);
    tables.clear_history(2);
    tables.set_up(2, true);
    EXPECT_TRUE(tables.up(2));
    EXPECT_EQ(device.entries.at("Ingress.answers 29 402"), "answered 2");
    EXPECT_EQ(device.entries.at("Egress.queue_pairs 2"), "remote 1f4");
    EXPECT_EQ(device.registers.at("Egress.psns 2 "), 600u);
    EXPECT_EQ(device.registers.at("Ingress.acknowledged 2 "), 600u);
    EXPECT_EQ(device.registers.at("Ingress.reads 2 count"), 0u);
    EXPECT_EQ(device.registers.at("Ingress.silence 2 "), 0u);
    EXPECT_EQ(device.registers.at("Ingress.backups 2 "), 1u);
    tables.set_up(2, false);
    EXPECT_FALSE(tables.up(2));
    entry.answers_to = 2050;
    entry.numbers = {501, 7};
    tables.set_queue_pair(2, entry);
    EXPECT_EQ(device.entries.count("Ingress.answers 29 402"), 0u) << "what answers the old number is nobody's";
    EXPECT_EQ(device.entries.at("Ingress.answers 29 802"), "answered 2");
    EXPECT_EQ(device.entries.at("Egress.queue_pairs 2"), "remote 1f5");
    EXPECT_EQ(device.registers.at("Egress.psns 2 "), 7u);
}

}  // namespace
