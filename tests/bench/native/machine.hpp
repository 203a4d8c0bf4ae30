/// The machine: which core, how large its caches are, whether large pages were given.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace polysome::bench {

/// Stays on a core from now on.
inline void stay_on_core(int core) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    CPU_SET(core, &allowed);
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) {
        std::fprintf(stderr, "core %d cannot be had\n", core);
        std::exit(2);
    }
}

/// Bytes of the largest cache that a core has. (sysconf may count those of all cores of the host of a virtual machine.)
inline uint64_t last_cache() {
    uint64_t largest = 0;
    for (int i = 0; i < 8; ++i) {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/size");
        uint64_t kilobytes = 0;
        if (file >> kilobytes) largest = std::max(largest, kilobytes << 10);
    }
    return largest != 0 ? largest : uint64_t{32} << 20;
}

/// Of the mappings of 16 MiB and more: bytes in memory, and how many of these are in large pages.
struct Pages {
    uint64_t all = 0, large = 0;
};
inline Pages pages() {
    constexpr uint64_t least = uint64_t{16} << 10;  // kB
    Pages found;
    std::ifstream file("/proc/self/smaps");
    uint64_t size = 0, resident = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        uint64_t kilobytes = 0;
        words >> name >> kilobytes;
        if (name == "Size:") size = kilobytes;
        if (name == "Rss:") resident = kilobytes;
        if (name == "AnonHugePages:" && size >= least) {
            found.all += resident << 10;
            found.large += kilobytes << 10;
        }
    }
    return found;
}

}  // namespace polysome::bench
