/// The flow map alone: lookups with refresh, or inserts with expiry, beside rte_hash and the machine's limit.
///
///     bench_table --flows N --distribution uniform|zipf --inserts yes|no [--benchmark_...]
///
/// Inserts: every key is new, and as many entries end as are made, so that there are always N, each for a minute.
/// rte_hash does not end entries by itself; there, the key that came N keys ago is deleted.
#include <benchmark/benchmark.h>

#include <memory>
#include <span>
#include <string>

#include "hand/hand.hpp"
#include "limit.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "nf/flow_map.hpp"
#include "traffic.hpp"

namespace polysome::bench {
namespace {

/// As generated code has it for a map by flow.
struct ByFlow {
    using Words = std::array<uint64_t, 5>;
    using Value = uint32_t;
    using Indexes = std::tuple<>;
    static constexpr bool has_idle = true, has_age = false, idle_varies = false, age_varies = false;
    static constexpr bool has_alive = false, has_owned = false, has_on_end = false;
    static constexpr WhenFull when_full = WhenFull::drop;
    static constexpr uint64_t idle_max = 60 * SECOND, age_max = 0;
    uint64_t timeout;  ///< a minute, or a little less

    uint64_t idle(const Words&, const Value&) const { return timeout; }
    uint64_t age(const Words&, const Value&) const { return 0; }
    bool alive(const Value&) const { return true; }
    bool claim(const Value&) { return true; }
    void release(const Value&) {}
    void on_end(const Words&, const Value&, End) {}
};
using Map = FlowMap<ByFlow>;

/// A flow as an IPv4-mapped 5-tuple in words, and as rte_hash's key. Any number is a flow here.
Map::Words words_of(uint32_t flow) {
    const uint64_t mapped = 0xffff00000000;
    return {0, mapped | flow, 0, mapped | 0xc6120001, uint64_t{flow % 60000} << 24 | 80 << 8 | TCP};
}
FlowKey key_of(uint32_t flow) { return {flow, 0xc6120001, static_cast<uint16_t>(flow % 60000), 80, TCP}; }

/// What is measured: a table with a number of entries.
class Subject {
  public:
    virtual ~Subject() = default;
    /// A batch of `order`, from `at` on; calls are for one batch after the other, around its end. 0 if one is not
    /// there.
    virtual uint64_t look_up(std::span<const uint32_t> order, size_t at) = 0;
    /// A batch, from `first` on; calls are for one batch after the other.
    virtual void insert(uint32_t first) = 0;
    uint64_t bytes = 0;
    size_t cursor = 0;
    uint32_t next = 0;  ///< the next new flow
};

/// Batches on their way: two ahead of the present one keys are hashed and their buckets fetched, one ahead the entries.
class Ahead {
  public:
    struct Batch {
        std::array<Map::Words, BATCH> keys;
        std::array<uint64_t, BATCH> hashes;
    };

    /// The next batch; `flow(i)` is the i-th flow from its first on.
    template <class Flow>
    const Batch& next(const Map& map, Flow flow) {
        if (turn_ == 0) {
            hash(map, 0, flow);
            hash(map, 1, flow);
            fetch(map, 0);
        }
        hash(map, 2, flow);
        fetch(map, 1);
        return batches_[turn_++ % 3];
    }

  private:
    template <class Flow>
    void hash(const Map& map, size_t ahead, Flow flow) {
        Batch& batch = batches_[(turn_ + ahead) % 3];
        for (size_t i = 0; i < BATCH; ++i) {
            batch.keys[i] = words_of(flow(ahead * BATCH + i));
            batch.hashes[i] = map.hash(batch.keys[i]);
            map.prefetch(batch.hashes[i]);
        }
    }
    void fetch(const Map& map, size_t ahead) {
        for (const uint64_t hash : batches_[(turn_ + ahead) % 3].hashes) map.prefetch_entry(hash);
    }

    std::array<Batch, 3> batches_;
    size_t turn_ = 0;
};

class OurMap final : public Subject {
  public:
    /// Inserts come at such a pace that what was inserted `flows` inserts ago is due.
    OurMap(uint32_t flows, bool inserts)
        : pace_(inserts ? ByFlow::idle_max / flows : 0),
          map_({inserts ? pace_ * flows : ByFlow::idle_max}, clock_, inserts ? flows + BATCH : flows, 1, false) {}

    uint64_t look_up(std::span<const uint32_t> order, size_t at) override {
        const Ahead::Batch& now = looked_up_.next(map_, [&](size_t i) {
            const size_t place = at + i;
            return order[place < order.size() ? place : place - order.size()];
        });
        clock_.now += BATCH;
        uint64_t sum = 0;
        for (size_t i = 0; i < BATCH; ++i) {
            const Map::Handle n = map_.find(now.keys[i], now.hashes[i]);
            if (n == Map::absent) return 0;
            map_.use(n);
            sum += map_.value(n) + 1;
        }
        return sum;
    }
    void insert(uint32_t first) override {
        const Ahead::Batch& now = inserted_.next(map_, [first](size_t i) { return first + static_cast<uint32_t>(i); });
        for (uint32_t i = 0; i < BATCH; ++i) {
            const uint64_t time = clock_.now + pace_;
            for (uint64_t due; (due = map_.next_due(time)) != NEVER;) {
                clock_.now = due;
                map_.expire_one();
            }
            clock_.now = time;
            if (map_.put(now.keys[i], now.hashes[i], first + i).what != Put::stored) std::abort();
        }
    }

  private:
    Clock clock_;
    uint64_t pace_;  ///< ns from insert to insert
    Map map_;
    Ahead looked_up_, inserted_;
};

class RteHash final : public Subject {
  public:
    RteHash(uint32_t flows, bool inserts)
        : flows_(flows),
          inserts_(inserts),
          table_(make_table<FlowKey>("flows", flows)),
          states_(large_array<State>(size_t{flows} * 2 + 128)) {}

    uint64_t look_up(std::span<const uint32_t> order, size_t at) override {
        std::array<FlowKey, BATCH> keys;
        std::array<const void*, BATCH> pointers;
        std::array<int32_t, BATCH> places;
        for (size_t i = 0; i < BATCH; ++i) {
            keys[i] = key_of(order[at + i]);
            pointers[i] = &keys[i];
        }
        rte_hash_lookup_bulk(table_, pointers.data(), BATCH, places.data());
        for (const int32_t place : places) {
            if (place < 0) return 0;
            __builtin_prefetch(&states_[place], 1);
        }
        now_ += BATCH;
        uint64_t sum = 0;
        for (const int32_t place : places) {
            states_[place].used = now_;
            sum += states_[place].value + 1;
        }
        return sum;
    }
    void insert(uint32_t first) override {
        for (uint32_t i = 0; i < BATCH; ++i) {
            if (inserts_ && now_ >= flows_) {
                const FlowKey old = key_of(static_cast<uint32_t>(first + i - flows_));
                rte_hash_del_key(table_, &old);
            }
            const FlowKey key = key_of(first + i);
            const int32_t place = rte_hash_add_key(table_, &key);
            if (place < 0) std::abort();
            states_[place] = {++now_, first + i};
        }
    }

  private:
    struct State {
        uint64_t used, value;
    };
    uint64_t flows_, now_ = 0;
    bool inserts_;
    rte_hash* table_;
    State* states_;
};

template <class Made>
std::unique_ptr<Subject> filled(uint32_t flows, bool inserts) {
    const uint64_t before = resident() + dpdk_bytes();
    auto subject = std::make_unique<Made>(flows, inserts);
    for (; subject->next < flows; subject->next += BATCH) subject->insert(subject->next);
    subject->bytes = resident() + dpdk_bytes() - before;
    return subject;
}

void run(uint32_t flows, bool zipf, bool inserts) {
    flows = flows / BATCH * BATCH;
    start_dpdk((uint64_t{128} << 20) + uint64_t{flows} * 192);
    const std::array<std::pair<std::string, std::unique_ptr<Subject>>, 2> subjects{
        {{"generated", filled<OurMap>(flows, inserts)}, {"hand", filled<RteHash>(flows, inserts)}}};
    const std::vector<uint32_t> order = make_order(flows, zipf);
    for (auto& [name, subject] : subjects) {
        benchmark::AddCustomContext(name + "_bytes", std::to_string(subject->bytes));
        benchmark::RegisterBenchmark(name.c_str(), [&, s = subject.get()](benchmark::State& state) {
            measure(state, order.size(), s->cursor, [&](size_t at) {
                if (inserts) {
                    s->insert(s->next);
                    s->next += BATCH;
                } else {
                    const uint64_t sum = s->look_up(order, at);
                    if (sum == 0) std::abort();
                    benchmark::DoNotOptimize(sum);
                }
            });
        });
    }
    const Limit limit(subjects[0].second->bytes / 64);
    size_t cursor = 0;
    benchmark::RegisterBenchmark("limit", [&](benchmark::State& state) {
        measure(state, order.size(), cursor,
                [&](size_t at) { benchmark::DoNotOptimize(limit.read({&order[at], BATCH})); });
    });
    benchmark::RunSpecifiedBenchmarks();
}

}  // namespace
}  // namespace polysome::bench

int main(int count, char** arguments) {
    benchmark::Initialize(&count, arguments);
    uint32_t flows = 65536;
    bool zipf = false, inserts = false;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--flows") flows = static_cast<uint32_t>(std::stoul(value));
        if (name == "--distribution") zipf = value == "zipf";
        if (name == "--inserts") inserts = value == "yes";
    }
    polysome::bench::run(flows, zipf, inserts);
}
