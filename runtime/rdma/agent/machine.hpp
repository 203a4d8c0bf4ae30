/// What the kernel says in /proc and /sys of the machine: NUMA nodes, huge pages, counters of RDMA devices.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "rdma/agent/device.hpp"

namespace polysome::agent {

/// Where /proc and /sys are.
struct Machine {
    std::filesystem::path proc = "/proc";
    std::filesystem::path sys = "/sys";
};

/// A file that holds one whole number, also a negative one; nothing if it is not there, not readable, or holds more.
inline std::optional<int64_t> number_in(const std::filesystem::path& path) {
    std::ifstream file(path);
    int64_t value = 0;
    std::string rest;
    if (!(file >> value) || file >> rest) return {};
    return value;
}

/// Bytes of a huge page that mmap(2) gives without being told a size; 0 if this kernel has none.
inline uint64_t huge_page_bytes(const Machine& machine) {
    std::ifstream file(machine.proc / "meminfo");
    for (std::string line; std::getline(file, line);) {
        constexpr std::string_view label = "Hugepagesize:";
        if (line.starts_with(label)) return std::stoull(line.substr(label.size())) * 1024;
    }
    return 0;
}

inline std::vector<uint32_t> numa_nodes(const Machine& machine) {
    std::vector<uint32_t> nodes;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(machine.sys / "devices/system/node", none)) {
        const std::string name = entry.path().filename();
        const bool is_node = name.starts_with("node") && name.size() > 4 &&
                             std::all_of(name.begin() + 4, name.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (is_node) nodes.push_back(static_cast<uint32_t>(std::stoul(name.substr(4))));
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

/// The folder of a size of huge pages: a node's own, or the machine's if the kernel knows no nodes.
inline std::filesystem::path huge_page_folder(const Machine& machine, std::optional<uint32_t> node, uint64_t bytes) {
    const std::string size = "hugepages-" + std::to_string(bytes / 1024) + "kB";
    if (!node) return machine.sys / "kernel/mm/hugepages" / size;
    return machine.sys / "devices/system/node" / ("node" + std::to_string(*node)) / "hugepages" / size;
}

/// Every counter that a port of an RDMA device has, by name: those of the port (`port_rcv_data` and `port_xmit_data`
/// are in units of 4 bytes) and those of the hardware (`out_of_sequence`, `duplicate_request`, ...).
inline std::vector<Count> port_counters(const Machine& machine, const std::string& device, uint32_t port) {
    std::vector<Count> counts;
    const auto folder = machine.sys / "class/infiniband" / device / "ports" / std::to_string(port);
    for (const char* kind : {"counters", "hw_counters"}) {
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder / kind, none)) {
            const std::string name = entry.path().filename();
            const auto value = name == "lifespan" ? std::nullopt : number_in(entry.path());  // ms that values are kept
            if (value && *value >= 0) counts.push_back({name, static_cast<uint64_t>(*value)});
        }
    }
    std::sort(counts.begin(), counts.end(), [](const Count& a, const Count& b) { return a.name < b.name; });
    return counts;
}

/// The NUMA node that an RDMA device is at; nothing if the machine does not say.
inline std::optional<uint32_t> numa_of(const Machine& machine, const std::string& device) {
    const auto node = number_in(machine.sys / "class/infiniband" / device / "device/numa_node");
    return node && *node >= 0 ? std::optional(static_cast<uint32_t>(*node)) : std::nullopt;
}

}  // namespace polysome::agent
