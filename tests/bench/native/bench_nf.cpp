/// One row of the bench: one network function, one number of flows, one kind of traffic.
///
///     bench_NAME --flows N --traffic uniform|zipf --rows FILE [--config FILE --sizes A,B,...] --core N
///                [--seconds S] [--repetitions N] [--instructions yes]
///
/// Columns, measured in turns on the same traffic: `generated` and `fields` (if this was built with generated code: on
/// whole packets, and on the frames of a switch that keeps the packets), `equal` and `approximate` (rivals/rival.hpp),
/// `limit` (limit.hpp) and `source` (copying the frames, with which all but `limit` begin). First every flow is opened;
/// then the first packets are checked: all must do the same with each. What was measured is one JSON object.
#include <memory>
#include <sstream>
#include <string>

#include RIVAL
#include "column.hpp"
#include "files.hpp"
#include "limit.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "say.hpp"
#ifdef GENERATED
#include "generated.hpp"
#endif

namespace polysome::bench {
namespace {

constexpr std::string_view NAME = BENCH_NAME;
constexpr size_t CHECKED = size_t{1} << 16;  // packets

using EqualColumn = RivalColumn<NF_NAME::Rival<Equal>>;
using ApproximateColumn = RivalColumn<NF_NAME::Rival<Approximate>>;

struct Options {
    Traffic traffic{.shape = shape_of(NAME)};
    Setup setup;
    std::vector<uint8_t> config;
    std::vector<uint64_t> sizes;
    int core = 0;
    double seconds = 0.2;
    size_t repetitions = 5;
    bool instructions = false;
};

// ---------------------------------------------------------------- all do the same

void print(const char* what, const Packet& p) {
    std::fprintf(stderr, "%12s: port %d, %d bytes:", what, p.out, p.size);
    for (size_t i = 0; i < p.size; ++i) std::fprintf(stderr, " %02x", p.data[i]);
    std::fprintf(stderr, "\n");
}

bool same(const Packet& a, const Packet& b) {
    return a.out == b.out && (a.out == DROP || (a.size == b.size && std::memcmp(a.data, b.data, a.size) == 0));
}

/// Runs the first packets of the trace through all columns, which must agree. Returns the share that is sent.
double check(const Columns& columns, const Trace& trace) {
    std::vector<Buffers> buffers(columns.size());
    size_t sent = 0;
    for (size_t at = 0; at < CHECKED; at += OPENED) {
        for (size_t c = 0; c < columns.size(); ++c) {
            trace.copy(at, OPENED, buffers[c]);
            columns[c].second->batch(buffers[c].first(OPENED), columns[c].second->later(OPENED));
        }
        for (size_t i = 0; i < OPENED; ++i) {
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
    for (const auto& [name, column] : columns) column->cursor = CHECKED;
    return static_cast<double>(sent) / CHECKED;
}

/// Adds a column whose flows are all open. The first one says what public endpoints they have; all must agree.
template <class Made, class... Arguments>
Made& open(Columns& columns, const char* name, const Traffic& traffic, Publics& publics,
           const Arguments&... arguments) {
    Publics own = no_publics(traffic);
    const uint64_t before = resident();
    auto made = std::make_unique<Made>(arguments...);
    Made& column = *made;
    open_flows(traffic, own, [&](std::span<Packet> packets) { column.batch(packets, column.later(packets.size())); });
    column.resident = resident() - before;
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

// ---------------------------------------------------------------- the row

/// All columns on which packets go through a network function.
Columns open_all(const Options& options, Publics& publics, [[maybe_unused]] Said& said) {
    Columns columns;
    const Traffic& traffic = options.traffic;
#ifdef GENERATED
    const auto& generated =
        open<GeneratedColumn>(columns, "generated", traffic, publics, options.sizes, options.config);
    said.number("generated_memory", static_cast<double>(generated.memory()));
    said.number("generated_bytes_per_entry", static_cast<double>(generated.bytes_per_entry()));
    open<FieldsColumn>(columns, "fields", traffic, publics, options.sizes, options.config);
#endif
    open<EqualColumn>(columns, "equal", traffic, publics, options.setup);
    open<ApproximateColumn>(columns, "approximate", traffic, publics, options.setup);
    return columns;
}

void run(const Options& options) {
    Said said;
    stay_on_core(options.core);
    said.number("core", options.core);
    Publics publics = no_publics(options.traffic);
    Columns columns = open_all(options, publics, said);
    const Trace trace(options.traffic, publics);
    said.number("sent", check(columns, trace));
    columns.emplace_back("source", std::make_unique<SourceColumn>());
    auto limit = std::make_unique<LimitColumn>(columns[0].second->resident);
    said.number("limit_bytes", static_cast<double>(limit->bytes()));
    said.number("last_cache", static_cast<double>(last_cache()));
    columns.emplace_back("limit", std::move(limit));
    for (const auto& [name, column] : columns) column->load(trace, options.traffic.far());
    const Pages large = pages();
    said.number("large_pages", large.all ? static_cast<double>(large.large) / static_cast<double>(large.all) : 1);
    measure_all(columns, options.seconds, options.repetitions, said);
    if (options.instructions) count_all(columns, said);
    said.print();
}

// ---------------------------------------------------------------- the command line

Options parse_options(int count, char** arguments) {
    Options options;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--flows") {
            options.traffic.flows = static_cast<uint32_t>(std::stoul(value));
            options.setup.flows = options.traffic.flows;
        } else if (name == "--traffic") {
            options.traffic.zipf = value == "zipf";
        } else if (name == "--rows") {
            options.setup.rows = rows(contents(value));
        } else if (name == "--config") {
            const std::string blob = contents(value);
            options.config.assign(blob.begin(), blob.end());
        } else if (name == "--sizes") {
            std::istringstream numbers(value);
            for (std::string one; std::getline(numbers, one, ',');) options.sizes.push_back(std::stoull(one));
        } else if (name == "--core") {
            options.core = std::stoi(value);
        } else if (name == "--seconds") {
            options.seconds = std::stod(value);
        } else if (name == "--repetitions") {
            options.repetitions = std::stoul(value);
        } else if (name == "--instructions") {
            options.instructions = value == "yes";
        }
    }
    return options;
}

}  // namespace
}  // namespace polysome::bench

int main(int count, char** arguments) { polysome::bench::run(polysome::bench::parse_options(count, arguments)); }
