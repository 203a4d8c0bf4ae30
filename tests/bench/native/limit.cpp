#include "limit.hpp"

#include <array>

#include "memory.hpp"
#include "traffic.hpp"

namespace polysome::bench {

Limit::Limit(uint64_t lines) : lines_(lines) {
    uint64_t* memory = large_array<uint64_t>(lines * 8);
    for (uint64_t i = 0; i < lines; ++i) memory[i * 8] = i;
    memory_ = memory;
}

uint64_t Limit::read(std::span<const uint32_t> flows) const {
    std::array<const uint64_t*, BATCH> line;
    uint64_t sum = 0;
    for (size_t i = 0; i < flows.size(); i += BATCH) {
        for (size_t k = 0; k < BATCH; ++k) {
            const uint64_t mixed = flows[i + k] * 0x9e3779b97f4a7c15;
            line[k] = memory_ + (static_cast<unsigned __int128>(mixed) * lines_ >> 64) * 8;
            __builtin_prefetch(line[k]);
        }
        for (const uint64_t* p : line) sum += *p;
    }
    return sum;
}

}  // namespace polysome::bench
