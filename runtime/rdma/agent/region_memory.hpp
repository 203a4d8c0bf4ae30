/// Memory for a NIC to write: of one NUMA node, in huge pages if asked for, all of it there and full of ones.
#pragma once

#include <numaif.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rdma/agent/machine.hpp"

namespace polysome::agent {

constexpr uint64_t rounded_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

class RegionMemory {
  public:
    /// Failure(3) if there is no such node, too little memory on it, or too few huge pages. O(bytes).
    RegionMemory(const Machine& machine, uint64_t bytes, uint32_t node, bool huge) {
        const std::vector<uint32_t> nodes = numa_nodes(machine);
        const bool known = std::find(nodes.begin(), nodes.end(), node) != nodes.end();
        if (!known && (node != 0 || !nodes.empty())) throw Failure(3, no_node(nodes, node));
        const std::optional<uint32_t> bound = nodes.empty() ? std::nullopt : std::optional(node);
        auto unit = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
        if (huge) {
            unit = huge_page_bytes(machine);
            if (unit == 0) throw Failure(3, "this kernel has no huge pages (CONFIG_HUGETLBFS)");
            need_huge_pages(machine, nodes.size(), bound, bytes, unit);
        }
        if (bytes > ~uint64_t{0} - unit) throw Failure(3, lacking(bytes, ENOMEM));
        size_ = rounded_up(bytes, unit);
        take(bytes, huge, bound);
    }
    RegionMemory(const RegionMemory&) = delete;
    RegionMemory& operator=(const RegionMemory&) = delete;
    ~RegionMemory() { munmap(start_, size_); }

    uint8_t* data() const { return start_; }
    uint64_t size() const { return size_; }  ///< whole pages
    void fill() { std::memset(start_, 0xff, size_); }

  private:
    static std::string no_node(const std::vector<uint32_t>& nodes, uint32_t node) {
        std::string all;
        for (const uint32_t n : nodes) all += (all.empty() ? "" : ", ") + std::to_string(n);
        return "there is no NUMA node " + std::to_string(node) + " (`numa` of the configuration); this machine has " +
               (all.empty() ? "0 only" : all);
    }
    static std::string lacking(uint64_t bytes, int error) {
        return "no memory for a region of " + std::to_string(bytes) + " bytes: " + std::strerror(error);
    }

    static void need_huge_pages(const Machine& machine, size_t nodes, std::optional<uint32_t> node, uint64_t bytes,
                                uint64_t unit) {
        const auto folder = huge_page_folder(machine, node, unit);
        const uint64_t pages = rounded_up(bytes, unit) / unit;
        const auto count = [&folder](const char* name) {
            return static_cast<uint64_t>(number_in(folder / name).value_or(0));
        };
        const uint64_t all = count("nr_hugepages"), free = count("free_hugepages");
        if (free >= pages) return;
        const uint64_t wanted = all - free + pages;
        throw Failure(
            3, "the region needs " + std::to_string(pages) + " huge pages of " + std::to_string(unit / 1024) + " KiB" +
                   (node ? " on NUMA node " + std::to_string(*node) : "") + ", and " + std::to_string(free) +
                   " are free: `sysctl vm.nr_hugepages=" + std::to_string(wanted * std::max<size_t>(nodes, 1)) + "`" +
                   (node ? ", or on that node alone `echo " + std::to_string(wanted) + " > " +
                               (folder / "nr_hugepages").string() + "`"
                         : ""));
    }

    void take(uint64_t bytes, bool huge, std::optional<uint32_t> node) {
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_HUGETLB : 0);
        void* const start = mmap(nullptr, size_, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (start == MAP_FAILED) {
            const int error = errno;
            throw Failure(3, lacking(bytes, error) + (huge ? "; huge pages are free, but promised to others" : ""));
        }
        start_ = static_cast<uint8_t*>(start);
        const int error = settled(node);
        if (error == 0) return fill();
        munmap(start_, size_);
        throw Failure(3, lacking(bytes, error) + (node ? ", on NUMA node " + std::to_string(*node) : ""));
    }

    /// Binds the memory to its node and has all of it made there; an error instead of a SIGBUS later.
    int settled(std::optional<uint32_t> node) {
        if (node) {
            constexpr size_t bits = 8 * sizeof(unsigned long);
            std::vector<unsigned long> mask(*node / bits + 1, 0);
            mask[*node / bits] = 1ul << *node % bits;
            if (mbind(start_, size_, MPOL_BIND, mask.data(), mask.size() * bits + 1, 0) != 0) return errno;
        }
        if (madvise(start_, size_, MADV_POPULATE_WRITE) == 0) return 0;
        return errno == EINVAL ? 0 : errno;  // before Linux 5.14 there is no such advice
    }

    uint8_t* start_ = nullptr;
    uint64_t size_ = 0;
};

/// Allows this process to lock all its memory, for good. Failure(3) if it may not and its limit is below `bytes`. What
/// a NIC uses is locked, and queue pairs made after a change of user count too.
inline void allow_locking(uint64_t bytes) {
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_MEMLOCK, &unlimited) == 0) return;
    rlimit has{};
    getrlimit(RLIMIT_MEMLOCK, &has);
    if (has.rlim_cur > bytes) return;
    throw Failure(3, "this process may lock " + std::to_string(has.rlim_cur) + " bytes of memory, and the region has " +
                         std::to_string(bytes) +
                         ": start it as root, or with `ulimit -l unlimited` (systemd: "
                         "LimitMEMLOCK=infinity)");
}

}  // namespace polysome::agent
