// Runs of a system for tests: a usual config, packets, and records taken apart.
#pragma once

#include "model_switch.hpp"
#include "nf/policies.hpp"
#include "tiny_split.hpp"

namespace polysome::system::model {

using Bytes = std::vector<uint8_t>;

struct Told {
    Record kind;
    uint16_t port;
    Time time;
    uint64_t number;
    uint64_t packet;
    Bytes bytes;
    bool operator==(const Told&) const = default;
};

inline std::vector<Told> told(std::span<const uint8_t> records) {
    std::vector<Told> all;
    while (!records.empty()) {
        uint16_t port;
        uint32_t size;
        uint64_t words[3];
        std::memcpy(&port, records.data() + 2, 2);
        std::memcpy(&size, records.data() + 4, 4);
        std::memcpy(words, records.data() + 8, sizeof words);
        const auto bytes = records.subspan(Recorder::head, size);
        all.push_back(
            {static_cast<Record>(records[0]), port, words[0], words[1], words[2], {bytes.begin(), bytes.end()}});
        records = records.subspan(Recorder::head + size);
    }
    return all;
}

/// What tiny_nf.hpp's handler does is `op`; every byte else follows from `salt`.
inline Bytes packet(char op, uint8_t ports, size_t size, uint8_t salt = 0) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + salt * 13u);
    bytes[0] = static_cast<uint8_t>(op);
    bytes[1] = ports;
    if (size > 3) bytes[3] = salt;
    return bytes;
}

/// Three traffic ports, an NF at 25 Gbit/s, two servers with two queue pairs each.
inline SystemConfig usual() {
    SystemConfig config;
    config.seed = 1;
    config.switch_mac = switch_mac;
    config.switch_ip = switch_ip;
    constexpr uint64_t rate = 100'000'000'000;
    for (uint16_t i = 0; i < 3; ++i) {
        config.traffic.push_back({.port = i, .out = {.rate = rate, .delay = 100}, .in = {.delay = 100}});
    }
    config.nf_cable = {.port = 32, .out = {.rate = rate / 4, .delay = 500}, .in = {.rate = rate / 4, .delay = 500}};
    for (uint16_t i = 0; i < 2; ++i) {
        ServerConfig server;
        server.cable.port = static_cast<uint16_t>(40 + i);
        server.cable.out = server.cable.in = {.rate = rate, .delay = 300};
        server.nic = {
            .mac = server_mac(i), .ip = server_ip(i), .region_size = cells * cell_size, .rkey = 7, .read_time = 1000};
        config.servers.push_back(server);
    }
    config.queue_pairs = {0, 1, 0, 1};
    return config;
}

template <template <class> class PolicyOf = Fifo>
struct Trial {
    using Nf = tiny::SplitNf<PolicyOf>;

    System<Switch, Nf> system;
    std::vector<Told> records;

    explicit Trial(const SystemConfig& config) : system(config, {}, false) {
        const uint8_t open = 1;
        if (!system.configure({&open, 1})) throw std::logic_error("the config is malformed");
        system.start(system.device());
    }
    void finish() {
        system.finish();
        records = told(system.recorder().take());
    }
    std::vector<Told> of(Record kind) const {
        std::vector<Told> some;
        for (const Told& record : records) {
            if (record.kind == kind) some.push_back(record);
        }
        return some;
    }
};

}  // namespace polysome::system::model
