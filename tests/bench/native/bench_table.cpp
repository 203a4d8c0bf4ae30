/// The flow map alone: lookups with refresh, or inserts with expiry, beside the table of the rivals and the machine's
/// limit.
///
///     bench_table --flows N --traffic uniform|zipf --inserts yes|no --core N [--seconds S] [--repetitions N]
///
/// Inserts: every key is new, and as many entries end as are made, so that there are always N, each for a minute.
#include <memory>
#include <span>
#include <string>

#include "limit.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "nf/flow_map.hpp"
#include "rivals/flow_entry.hpp"
#include "rivals/store.hpp"

namespace polysome::bench {
namespace {

constexpr size_t AT_ONCE = 32;

/// As generated code has it for a map by flow.
struct ByFlow {
    using Words = CompactKey<5, KeyPart{0, 0, 0, 32, 61}, KeyPart{2, 0, 32, 32, 60}, KeyPart{4, 1, 0, 40}>;
    using Value = uint32_t;
    using Indexes = std::tuple<>;
    static constexpr bool has_idle = true, has_age = false, idle_varies = false, age_varies = false, steady = true;
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

/// A flow as an IPv4-mapped 5-tuple in words, and as the rivals have it. Any number is a flow here.
Map::Words words_of(uint32_t flow) {
    const uint64_t mapped = 0xffff00000000;
    return Map::Words({0, mapped | flow, 0, mapped | 0xc6120001, uint64_t{flow % 60000} << 24 | 80 << 8 | TCP});
}
FlowKey key_of(uint32_t flow) {
    return _mm_setr_epi32(static_cast<int>(flow), 0x010012c6, static_cast<int>(flow % 60000 | 80 << 16), TCP);
}

void must(bool right) {
    if (!right) std::abort();
}

/// A table with a number of entries: the next batch of the trace is looked up, or the next new flows are inserted.
template <class Made>
class TableColumn : public ColumnOf<Made> {
  public:
    static constexpr size_t BATCH_SIZE = AT_ONCE;

    explicit TableColumn(bool inserts) : inserts_(inserts) {}
    void batch(std::span<Packet>, uint64_t) override {}
    void step(size_t at) {
        if (inserts_) {
            self().insert(new_);
            new_ += AT_ONCE;
        } else {
            self().look_up(this->trace_->order, at);
        }
    }
    void fill(uint32_t flows) {
        for (; new_ < flows; new_ += AT_ONCE) self().insert(new_);
    }

  private:
    Made& self() { return static_cast<Made&>(*this); }
    bool inserts_;
    uint32_t new_ = 0;  ///< the next new flow
};

/// Batches on their way: two ahead of the present one keys are hashed and their buckets fetched, one ahead the entries.
class Ahead {
  public:
    using Batch = std::array<Map::Sought, AT_ONCE>;

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
        for (size_t i = 0; i < AT_ONCE; ++i) {
            batch[i] = map.sought(words_of(flow(ahead * AT_ONCE + i)));
            map.prefetch(batch[i]);
        }
    }
    void fetch(const Map& map, size_t ahead) {
        for (Map::Sought& sought : batches_[(turn_ + ahead) % 3]) map.expect(sought);
    }

    std::array<Batch, 3> batches_;
    size_t turn_ = 0;
};

class GeneratedMap final : public TableColumn<GeneratedMap> {
  public:
    /// Inserts come at such a pace that what was inserted `flows` inserts ago is due.
    GeneratedMap(uint32_t flows, bool inserts)
        : TableColumn(inserts),
          pace_(inserts ? ByFlow::idle_max / flows : 0),
          map_({inserts ? pace_ * flows : ByFlow::idle_max}, clock_, inserts ? flows + AT_ONCE : flows, 1, false) {}

    void look_up(std::span<const uint32_t> order, size_t at) {
        const Ahead::Batch& now = looked_up_.next(map_, [&](size_t i) {
            const size_t place = at + i;
            return order[place < order.size() ? place : place - order.size()];
        });
        clock_.now += AT_ONCE;
        for (size_t i = 0; i < AT_ONCE; ++i) {
            const Map::Handle n = map_.find(now[i]);
            must(n != Map::absent);
            map_.use(n);
        }
    }
    void insert(uint32_t first) {
        const Ahead::Batch& now = inserted_.next(map_, [first](size_t i) { return first + static_cast<uint32_t>(i); });
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            const uint64_t time = clock_.now + pace_;
            for (uint64_t due; (due = map_.next_due(time)) != NEVER;) {
                clock_.now = due;
                map_.expire_one();
            }
            clock_.now = time;
            must(map_.put(now[i], first + i).what == Put::stored);
        }
    }

  private:
    Clock clock_;
    uint64_t pace_;  ///< ns from insert to insert
    Map map_;
    Ahead looked_up_, inserted_;
};

class RivalMap final : public TableColumn<RivalMap> {
  public:
    RivalMap(uint32_t flows, bool inserts)
        : TableColumn(inserts),
          pace_(inserts ? ByFlow::idle_max / flows : 0),
          entries_(inserts ? flows + AT_ONCE : flows, {inserts ? pace_ * flows : ByFlow::idle_max}) {}

    void look_up(std::span<const uint32_t> order, size_t at) {
        prepare([&](size_t i) { return order[at + i]; });
        now_ += AT_ONCE;
        for (size_t i = 0; i < AT_ONCE; ++i) {
            const uint32_t place = entries_.find(keys_[i], hashes_[i], candidates_[i], now_, on_end);
            must(place != NONE);
            entries_[place].life.last = now_;
        }
    }
    void insert(uint32_t first) {
        prepare([&](size_t i) { return first + static_cast<uint32_t>(i); });
        for (uint32_t i = 0; i < AT_ONCE; ++i) {
            now_ += pace_;
            entries_.expire(now_, on_end);
            must(entries_.find(keys_[i], hashes_[i], candidates_[i], now_, on_end) == NONE && !entries_.full());
            const uint32_t place = entries_.insert(hashes_[i], now_);
            entries_[place].set(keys_[i], 0);
            entries_.begin(place);
        }
    }

  private:
    struct Entry : FlowEntry {
        uint32_t lifetime() const { return 0; }
    };
    static void on_end(const Entry&, uint64_t) {}

    template <class Flow>
    void prepare(Flow flow) {
        for (size_t i = 0; i < AT_ONCE; ++i) {
            keys_[i] = key_of(flow(i));
            hashes_[i] = hash_of(keys_[i]);
            entries_.prefetch(hashes_[i]);
        }
        for (size_t i = 0; i < AT_ONCE; ++i) candidates_[i] = entries_.candidate(hashes_[i]);
    }

    uint64_t pace_, now_ = ByFlow::idle_max;
    Store<Entry, 1, Equal> entries_;
    std::array<FlowKey, AT_ONCE> keys_;
    std::array<uint32_t, AT_ONCE> hashes_, candidates_;
};

template <class Made>
std::unique_ptr<Column> filled(uint32_t flows, bool inserts) {
    const uint64_t before = resident();
    auto made = std::make_unique<Made>(flows, inserts);
    made->fill(flows);
    made->resident = resident() - before;
    return made;
}

void run(uint32_t flows, bool zipf, bool inserts, int core, double seconds, size_t repetitions) {
    flows = flows / AT_ONCE * AT_ONCE;
    Said said;
    stay_on_core(core);
    said.number("core", core);
    Columns columns;
    columns.emplace_back("generated", filled<GeneratedMap>(flows, inserts));
    columns.emplace_back("equal", filled<RivalMap>(flows, inserts));
    columns.emplace_back("limit", std::make_unique<LimitColumn>(columns[0].second->resident));
    const Trace trace(make_order(flows, zipf));
    for (const auto& [name, column] : columns) column->load(trace, true);
    const Pages large = pages();
    said.number("large_pages", large.all ? static_cast<double>(large.large) / static_cast<double>(large.all) : 1);
    measure_all(columns, seconds, repetitions, said);
    said.print();
}

}  // namespace
}  // namespace polysome::bench

int main(int count, char** arguments) {
    uint32_t flows = 65536;
    bool zipf = false, inserts = false;
    int core = 0;
    double seconds = 0.2;
    size_t repetitions = 5;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--flows") flows = static_cast<uint32_t>(std::stoul(value));
        if (name == "--traffic") zipf = value == "zipf";
        if (name == "--inserts") inserts = value == "yes";
        if (name == "--core") core = std::stoi(value);
        if (name == "--seconds") seconds = std::stod(value);
        if (name == "--repetitions") repetitions = std::stoul(value);
    }
    polysome::bench::run(flows, zipf, inserts, core, seconds, repetitions);
}
