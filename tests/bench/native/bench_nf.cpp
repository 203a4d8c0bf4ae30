/// One row of the bench: one network function, one number of flows, one distribution.
///
///     bench_NAME --flows N --distribution uniform|zipf --rows FILE [--config FILE --sizes A,B,...] [--benchmark_...]
///
/// Columns, measured in turns on the same traffic: `generated` and `fields` (if this was built with generated code: on
/// whole packets, and on the frames of a switch that keeps the packets), `hand`, `limit` (random reads of the same
/// working set) and `source` (copying the frames, which the first three include). First every flow is opened; then the
/// first packets are checked: all must do the same with each.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>

#include "column.hpp"
#include "hand/hand.hpp"
#include "limit.hpp"
#include "measure.hpp"
#ifdef GENERATED
#include "generated.hpp"
#endif

namespace polysome::bench {
namespace {

constexpr std::string_view NAME = BENCH_NAME;
constexpr size_t CHECKED = size_t{1} << 16;  // packets

struct Options {
    Traffic traffic{.shape = shape_of(NAME)};
    Rows rows;
    std::vector<uint8_t> config;
    std::vector<uint64_t> sizes;
};

class HandColumn final : public Column {
  public:
    explicit HandColumn(const Setup& setup) : nf_(make_hand(setup)) {}
    uint64_t emitted() const override { return nf_->emitted(); }

  protected:
    void run(std::span<Packet> packets, uint64_t now) override { nf_->batch(packets, now); }

  private:
    std::unique_ptr<Hand> nf_;
};

void print(const char* what, const Packet& p) {
    std::fprintf(stderr, "%10s: port %d, %d bytes:", what, p.out, p.size);
    for (size_t i = 0; i < p.size; ++i) std::fprintf(stderr, " %02x", p.data[i]);
    std::fprintf(stderr, "\n");
}

using Columns = std::vector<std::pair<std::string, std::unique_ptr<Column>>>;

bool same(const Packet& a, const Packet& b) {
    return a.out == b.out && (a.out == DROP || (a.size == b.size && std::memcmp(a.data, b.data, a.size) == 0));
}

/// Runs the first packets of the trace through all columns, which must agree. Returns the share that is sent.
double check(const Columns& columns, const Trace& trace) {
    std::vector<Buffers> buffers(columns.size());
    size_t sent = 0;
    for (size_t at = 0; at < CHECKED; at += BATCH) {
        for (size_t c = 0; c < columns.size(); ++c) {
            trace.copy(at, buffers[c]);
            columns[c].second->batch(buffers[c].packets);
        }
        for (size_t i = 0; i < BATCH; ++i) {
            const Packet& first = buffers[0].packets[i];
            sent += first.out != DROP;
            for (size_t c = 1; c < columns.size(); ++c) {
                const Packet& other = buffers[c].packets[i];
                if (same(first, other)) continue;
                std::fprintf(stderr, "packet %zu is treated differently:\n", at + i);
                print(columns[0].first.c_str(), first);
                print(columns[c].first.c_str(), other);
                std::exit(1);
            }
        }
    }
    for (auto& [name, column] : columns) column->cursor = CHECKED;
    return static_cast<double>(sent) / CHECKED;
}

/// Adds a column whose flows are all open. The first one says what public endpoints they have; all must agree.
template <class Made, class... Arguments>
Made& open(Columns& columns, const char* name, const Traffic& traffic, Publics& publics,
           const Arguments&... arguments) {
    Publics own = no_publics(traffic);
    const uint64_t before = resident() + dpdk_bytes();
    auto made = std::make_unique<Made>(arguments...);
    Made& column = *made;
    open_flows(traffic, own, [&](std::span<Packet> packets) { column.batch(packets); });
    column.resident = resident() + dpdk_bytes() - before;
    if (columns.empty()) {
        publics = std::move(own);
    } else if (own != publics) {
        const auto differ = std::mismatch(own.begin(), own.end(), publics.begin()).first - own.begin();
        std::fprintf(stderr, "%s gives flow %td another public endpoint\n", name, differ);
        std::exit(1);
    }
    columns.emplace_back(name, std::move(made));
    return column;
}

void note(const std::string& name, uint64_t value) { benchmark::AddCustomContext(name, std::to_string(value)); }

/// All columns on which packets go through a network function.
Columns open_all(const Options& options, Publics& publics) {
    Columns columns;
    const Traffic& traffic = options.traffic;
    start_dpdk((uint64_t{128} << 20) + uint64_t{traffic.flows} * 192);
#ifdef GENERATED
    const auto& generated =
        open<GeneratedColumn>(columns, "generated", traffic, publics, options.sizes, options.config);
    note("generated_memory", generated.memory());
    note("generated_bytes_per_entry", generated.bytes_per_entry());
    open<FieldsColumn>(columns, "fields", traffic, publics, options.sizes, options.config);
#endif
    open<HandColumn>(columns, "hand", traffic, publics, Setup{traffic.flows, options.rows});
    return columns;
}

void run(const Options& options) {
    Publics publics = no_publics(options.traffic);
    const Columns columns = open_all(options, publics);
    const Trace trace(options.traffic, publics);
    benchmark::AddCustomContext("sent", std::to_string(check(columns, trace)));
    const size_t count = trace.order.size();
    for (const auto& [name, column] : columns) {
        column->load(trace);
        note(name + "_bytes", column->resident);
        benchmark::RegisterBenchmark(name.c_str(), [count, column = column.get()](benchmark::State& state) {
            measure(state, count, column->cursor, [&](size_t at) { column->step(at); });
            state.counters["emitted"] = static_cast<double>(column->emitted());
        });
    }
    size_t source_cursor = 0, limit_cursor = 0;
    Buffers buffers;
    benchmark::RegisterBenchmark("source", [&](benchmark::State& state) {
        measure(state, count, source_cursor, [&](size_t at) {
            trace.copy(at, buffers);
            benchmark::DoNotOptimize(buffers.packets.data());
            benchmark::ClobberMemory();
        });
    });
    const Limit limit(std::max<uint64_t>(columns[0].second->resident, 65536) / 64);
    benchmark::RegisterBenchmark("limit", [&](benchmark::State& state) {
        measure(state, count, limit_cursor,
                [&](size_t at) { benchmark::DoNotOptimize(limit.read({&trace.order[at], BATCH})); });
    });
    benchmark::RunSpecifiedBenchmarks();
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        std::exit(2);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

Options parse_options(int count, char** arguments) {
    Options options;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--flows") {
            options.traffic.flows = static_cast<uint32_t>(std::stoul(value));
        } else if (name == "--distribution") {
            options.traffic.zipf = value == "zipf";
        } else if (name == "--rows") {
            std::istringstream lines(contents(value));
            for (std::string line; std::getline(lines, line);) {
                std::istringstream numbers(line);
                options.rows.emplace_back(std::istream_iterator<uint64_t>(numbers), std::istream_iterator<uint64_t>());
            }
        } else if (name == "--config") {
            const std::string blob = contents(value);
            options.config.assign(blob.begin(), blob.end());
        } else if (name == "--sizes") {
            std::istringstream numbers(value);
            for (std::string one; std::getline(numbers, one, ',');) options.sizes.push_back(std::stoull(one));
        }
    }
    return options;
}

}  // namespace
}  // namespace polysome::bench

int main(int count, char** arguments) {
    benchmark::Initialize(&count, arguments);
    polysome::bench::run(polysome::bench::parse_options(count, arguments));
}
