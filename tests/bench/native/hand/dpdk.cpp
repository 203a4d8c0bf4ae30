#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "hand.hpp"

namespace polysome::bench {

namespace {
constexpr const char* HEAP = "tables";
}

void start_dpdk(uint64_t bytes) {
    // DPDK's own memory would be in small pages without reserved ones; a heap of ours is in large ones like all others.
    char program[] = "bench", huge[] = "--no-huge", pci[] = "--no-pci", telemetry[] = "--no-telemetry", m[] = "-m",
         size[] = "64", cores[] = "-l", first[] = "0", log[] = "--log-level=error", shared[] = "--no-shconf";
    std::array<char*, 10> arguments{program, huge, pci, telemetry, m, size, cores, first, log, shared};
    constexpr size_t page = size_t{2} << 20;
    bytes = (bytes + page - 1) / page * page;
    if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0 || rte_malloc_heap_create(HEAP) != 0 ||
        rte_malloc_heap_memory_add(HEAP, large(bytes), bytes, nullptr, 0, page) != 0) {
        std::fprintf(stderr, "DPDK does not start: %s\n", rte_strerror(rte_errno));
        std::exit(1);
    }
}

uint64_t dpdk_bytes() {
    rte_malloc_socket_stats stats{};
    rte_malloc_get_socket_stats(dpdk_socket(), &stats);
    return stats.heap_allocsz_bytes;
}

int dpdk_socket() { return rte_malloc_heap_get_socket(HEAP); }

}  // namespace polysome::bench
