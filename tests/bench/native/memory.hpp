/// Memory as a packet processor has it: in large pages, and counted.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace polysome::bench {

/// Bytes of this process that are in memory.
inline uint64_t resident() {
    unsigned long size = 0, pages = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%lu %lu", &size, &pages) != 2) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Zeroed memory that starts at a multiple of 2 MiB and is in large pages if the system has any to give.
inline void* large(size_t bytes) {
    constexpr size_t page = size_t{2} << 20;
    const size_t rounded = (bytes + page - 1) / page * page;
    void* p = mmap(nullptr, rounded + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        std::perror("mmap");
        std::exit(1);
    }
    void* aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(p) + page - 1) / page * page);
    madvise(aligned, rounded, MADV_HUGEPAGE);
    return aligned;
}

/// `count` zeroed Ts that are never given back.
template <class T>
T* large_array(size_t count) {
    return static_cast<T*>(large(count * sizeof(T)));
}

}  // namespace polysome::bench
