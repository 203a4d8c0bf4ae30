/// Speed of the flow map next to what the memory gives: c++ -O3 -march=native -Iruntime bench_flow_map.cpp -lbenchmark
#include <benchmark/benchmark.h>

#include <memory>

#include "nf/flow_map.hpp"

namespace polysome {
namespace {

constexpr size_t batch = 32;  // packets that are looked up together
constexpr uint64_t minute = 60'000'000'000;

/// A connection tracker's map: an IPv6 five-tuple's words, 8 bytes of value, idle for a minute.
template <WhenFull policy>
struct Flows {
    using Words = std::array<uint64_t, 5>;
    using Value = uint64_t;
    using Indexes = std::tuple<>;
    static constexpr bool has_idle = true, has_age = false, idle_varies = false, age_varies = false;
    static constexpr bool has_alive = false, has_owned = false, has_on_end = false;
    static constexpr WhenFull when_full = policy;
    static constexpr uint64_t idle_max = minute, age_max = 0;
    uint64_t idle(const Words&, const Value&) const { return minute; }
};
using Map = FlowMap<Flows<WhenFull::drop>>;
using EvictingMap = FlowMap<Flows<WhenFull::evict>>;

std::array<uint64_t, 5> key_of(uint64_t flow) {
    return {flow * 0x9e3779b97f4a7c15, flow, ~flow, flow << 32, flow & 0xffff};
}

class Random {
  public:
    uint64_t below(uint64_t n) {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return static_cast<uint64_t>(static_cast<u128>(state_) * n >> 64);
    }

  private:
    uint64_t state_ = 88172645463325252;
};

struct Filled {
    Clock clock;
    Map map;
    explicit Filled(uint64_t flows) : map({}, clock, flows, 1, false) {
        for (uint64_t i = 0; i < flows; ++i) map.put(key_of(i), map.hash(key_of(i)), i);
    }
};

/// Filled once for all that only look.
Filled& filled(uint64_t flows) {
    static std::unique_ptr<Filled> last;
    static uint64_t size = 0;
    if (size != flows) {
        last.reset();
        last = std::make_unique<Filled>(flows);
        size = flows;
    }
    return *last;
}

/// The bound: lines read at random from as many bytes as the map's lookups read of.
void lines(benchmark::State& state) {
    struct alignas(64) Line {
        uint64_t words[8];
    };
    MappedArray<Line> memory(static_cast<uint64_t>(state.range(0)) * 80 / 64);
    for (size_t i = 0; i < memory.size(); ++i) memory[i].words[0] = i;
    Random random;
    uint64_t sum = 0;
    for (auto _ : state) {
        std::array<const Line*, batch> at;
        for (auto& line : at) {
            line = &memory[random.below(memory.size())];
            __builtin_prefetch(line);
        }
        for (const Line* line : at) sum += line->words[0];
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch));
}

/// Lookups with a refresh; one in 8 of a key that is absent.
void lookups(benchmark::State& state) {
    const auto flows = static_cast<uint64_t>(state.range(0));
    Map& map = filled(flows).map;
    Random random;
    uint64_t sum = 0;
    for (auto _ : state) {
        std::array<std::array<uint64_t, 5>, batch> keys;
        std::array<uint64_t, batch> hashes;
        for (size_t i = 0; i < batch; ++i) {
            keys[i] = key_of(random.below(flows) + (i % 8 == 0 ? flows : 0));
            hashes[i] = map.hash(keys[i]);
            map.prefetch(hashes[i]);
        }
        for (const uint64_t hash : hashes) map.prefetch_entry(hash);
        for (size_t i = 0; i < batch; ++i) {
            const auto n = map.find(keys[i], hashes[i]);
            if (n == Map::absent) continue;
            map.use(n);
            sum += map.value(n);
        }
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch));
}

/// New flows at a steady rate, each of which ends a minute after; `flows` live at a time. With `replies` each is used
/// once more, half a minute on.
template <bool replies>
void inserts(benchmark::State& state) {
    const auto flows = static_cast<uint64_t>(state.range(0));
    Clock clock;
    Map map({}, clock, flows + flows / 8, 1, false);
    const uint64_t gap = minute / flows;
    uint64_t next = 0;
    const auto step = [&] {
        std::array<std::array<uint64_t, 5>, batch> keys;
        std::array<uint64_t, batch> hashes;
        std::array<std::array<uint64_t, 5>, batch> old;
        std::array<uint64_t, batch> old_hashes;
        for (size_t i = 0; i < batch; ++i) {
            keys[i] = key_of(next + i);
            hashes[i] = map.hash(keys[i]);
            map.prefetch(hashes[i]);
            if constexpr (replies) {
                old[i] = key_of(next + i - flows / 4);
                old_hashes[i] = map.hash(old[i]);
                map.prefetch(old_hashes[i]);
            }
        }
        if constexpr (replies) {
            for (const uint64_t hash : old_hashes) map.prefetch_entry(hash);
        }
        for (size_t i = 0; i < batch; ++i) {
            const uint64_t time = next++ * gap;
            for (uint64_t due; (due = map.next_due(time)) != NEVER;) {
                clock.now = due;
                map.expire_one();
            }
            clock.now = time;
            if constexpr (replies) {
                if (const auto n = map.find(old[i], old_hashes[i]); n != Map::absent) map.use(n);
            }
            benchmark::DoNotOptimize(map.put(keys[i], hashes[i], next));
        }
    };
    while (next < 2 * flows) step();
    for (auto _ : state) step();
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch));
    state.counters["live"] = static_cast<double>(map.size());
}

/// New flows all the time in a full map that evicts the oldest.
void evictions(benchmark::State& state) {
    const auto flows = static_cast<uint64_t>(state.range(0));
    Clock clock;
    EvictingMap map({}, clock, flows, 1, false);
    uint64_t next = 0;
    const auto step = [&] {
        std::array<uint64_t, batch> hashes;
        for (size_t i = 0; i < batch; ++i) {
            hashes[i] = map.hash(key_of(next + i));
            map.prefetch(hashes[i]);
        }
        for (const uint64_t hash : hashes) {
            clock.now += 100;
            benchmark::DoNotOptimize(map.put(key_of(next), hash, next));
            ++next;
        }
    };
    while (next < 2 * flows) step();
    for (auto _ : state) step();
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * batch));
}

void sizes(benchmark::internal::Benchmark* b) { b->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 23)->MinTime(0.3); }

BENCHMARK(lines)->Apply(sizes);
BENCHMARK(lookups)->Apply(sizes);
BENCHMARK(inserts<false>)->Apply(sizes);
BENCHMARK(inserts<true>)->Apply(sizes);
BENCHMARK(evictions)->Apply(sizes);

}  // namespace
}  // namespace polysome

BENCHMARK_MAIN();
