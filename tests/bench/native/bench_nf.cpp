/// One row of the bench: one network function, one number of flows, one distribution.
///
///     bench_NAME --flows N --distribution uniform|zipf --rows FILE [--config FILE --sizes A,B,...] [--benchmark_...]
///
/// Columns, measured in turns on the same traffic: `generated` (if this was built with generated code), `hand`, `limit`
/// (random reads of the same working set) and `source` (copying the frames, which the first two include). First every
/// flow is opened; then the first packets are checked: generated and hand-written code must do the same with each.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>

#include "hand/hand.hpp"
#include "limit.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "traffic.hpp"
#ifdef GENERATED
#include GENERATED
#include "nf/machine.hpp"
#endif

namespace polysome::bench {
namespace {

constexpr std::string_view NAME = BENCH_NAME;
constexpr uint32_t VIP = NAME == "load_balancer" ? 0x0a000064 : 0;
/// Half the packets are replies; TCP flows are opened by a handshake; replies go to what the NF made of the source.
constexpr bool REPLIES = NAME == "nat" || NAME == "firewall";
constexpr bool HANDSHAKE = NAME == "firewall";
constexpr bool TRANSLATED = NAME == "nat";
constexpr size_t CHECKED = size_t{1} << 16;  // packets

struct Options {
    uint32_t flows = 65536;
    bool zipf = false;
    Rows rows;
    std::vector<uint8_t> config;
    std::vector<uint64_t> sizes;
};

/// An NF under measurement, with its own time.
class Column {
  public:
    virtual ~Column() = default;
    virtual uint64_t emitted() const = 0;
    void batch(std::span<Packet> packets) {
        now_ += packets.size() * NS_PER_PACKET;
        run(packets, now_);
    }
    size_t cursor = 0;   ///< where it is in the trace
    uint64_t bytes = 0;  ///< of memory for its flows

  protected:
    virtual void run(std::span<Packet> packets, uint64_t now) = 0;

  private:
    uint64_t now_ = 1'000'000'000 * SECOND;
};

class HandColumn final : public Column {
  public:
    explicit HandColumn(const Options& options) : nf_(make_hand({options.flows, options.rows})) {}
    uint64_t emitted() const override { return nf_->emitted(); }

  protected:
    void run(std::span<Packet> packets, uint64_t now) override { nf_->batch(packets, now); }

  private:
    std::unique_ptr<Hand> nf_;
};

#ifdef GENERATED
class GeneratedColumn final : public Column {
  public:
    explicit GeneratedColumn(const Options& options) : machine_(*this, options.sizes) {
        if (!machine_.configure(options.config)) {
            std::fprintf(stderr, "the generated code refuses its config\n");
            std::exit(1);
        }
    }
    uint64_t emitted() const override { return machine_.counters().emitted; }

    // What the machine tells.
    void left(uint16_t port, uint64_t, std::span<const uint8_t> bytes, uint64_t order) {
        Packet& p = packets_[order - first_];
        if (bytes.data() != p.data) std::copy(bytes.begin(), bytes.end(), p.data);
        p.size = static_cast<uint16_t>(bytes.size());
        p.out = static_cast<uint8_t>(port);
    }
    void emitted(uint16_t, uint64_t, std::span<const uint8_t>, uint64_t) {}
    void dropped(uint64_t, uint16_t) {}
    template <class AnyPacket>
    void decided(uint64_t, uint64_t, const AnyPacket&) {}

  protected:
    void run(std::span<Packet> packets, uint64_t now) override {
        std::array<Arrival, BATCH> arrivals;
        packets_ = packets.data();
        for (size_t i = 0; i < packets.size(); ++i) {
            packets[i].out = DROP;
            arrivals[i] = {now, packets[i].data, packets[i].size, packets[i].port};
        }
        machine_.arrive({arrivals.data(), packets.size()});
        first_ += packets.size();
    }

  private:
    Packet* packets_ = nullptr;
    uint64_t first_ = 0;
    Machine<nf::NF_NAME::Nf, GeneratedColumn> machine_;
};
#endif

/// A batch of frames where the NF finds them and may change them.
struct Buffers {
    alignas(64) std::array<Frame, BATCH> frames;
    std::array<Packet, BATCH> packets;

    void put(size_t i, uint8_t port) { packets[i] = {frames[i].data(), FRAME, port, DROP}; }
    std::span<Packet> first(size_t n) { return {packets.data(), n}; }
};

/// The public endpoints of flows, as a NAT gave them: address and port.
using Publics = std::vector<std::pair<uint32_t, uint16_t>>;

/// Opens all flows; with a handshake, in three rounds. What leaves is noted if the NF translates.
Publics open_flows(Column& column, uint32_t flows) {
    Publics publics(TRANSLATED ? flows : 0);
    Buffers buffers;
    for (int round = 0; round < (HANDSHAKE ? 3 : 1); ++round) {
        const bool reply = round == 1;
        const uint8_t flags = !HANDSHAKE ? ACK : round == 0 ? SYN : reply ? SYN | ACK : ACK;
        for (uint32_t flow = 0; flow < flows; flow += BATCH) {
            const size_t n = std::min<size_t>(BATCH, flows - flow);
            for (size_t i = 0; i < n; ++i) {
                const Tuple t = tuple_of(flow + static_cast<uint32_t>(i), VIP);
                buffers.frames[i] = make_frame(reply ? t.reversed() : t, flags);
                buffers.put(i, reply);
            }
            column.batch(buffers.first(n));
            if (!TRANSLATED) continue;
            for (size_t i = 0; i < n; ++i) {
                const uint8_t* f = buffers.frames[i].data();
                if (buffers.packets[i].out != DROP) publics[flow + i] = {load32(f + 26), load16(f + 34)};
            }
        }
    }
    return publics;
}

/// The frames in the order of arrival, and for each the port where it does.
struct Trace {
    std::vector<uint32_t> order;
    Frame* frames;
    std::vector<uint8_t> ports;

    Trace(const Options& options, const Publics& publics) : order(make_order(options.flows, options.zipf)) {
        frames = large_array<Frame>(order.size());
        ports.resize(order.size());
        for (size_t i = 0; i < order.size(); ++i) {
            Tuple t = tuple_of(order[i], VIP);
            ports[i] = REPLIES && (i * 0x9e3779b97f4a7c15 >> 63) != 0;
            if (ports[i]) {
                t = t.reversed();
                if (TRANSLATED) std::tie(t.dst, t.dport) = publics[order[i]];
            }
            frames[i] = make_frame(t);
        }
    }
    void copy(size_t at, Buffers& buffers) const {
        std::memcpy(buffers.frames.data(), frames + at, BATCH * FRAME);
        for (size_t i = 0; i < BATCH; ++i) buffers.put(i, ports[at + i]);
    }
};

void print(const char* what, const Packet& p) {
    std::fprintf(stderr, "%10s: port %d, %d bytes:", what, p.out, p.size);
    for (size_t i = 0; i < p.size; ++i) std::fprintf(stderr, " %02x", p.data[i]);
    std::fprintf(stderr, "\n");
}

/// Runs the first packets of the trace through all columns, which must agree. Returns the share that is sent.
double check(const std::vector<std::pair<std::string, Column*>>& columns, const Trace& trace) {
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
                const bool same = first.out == other.out &&
                                  (first.out == DROP ||
                                   (first.size == other.size && std::memcmp(first.data, other.data, first.size) == 0));
                if (same) continue;
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

template <class Made>
std::unique_ptr<Column> opened(const Options& options, Publics& publics, const char* name) {
    const uint64_t before = resident() + dpdk_bytes();
    auto column = std::make_unique<Made>(options);
    Publics own = open_flows(*column, options.flows);
    column->bytes = resident() + dpdk_bytes() - before;
    if (!publics.empty() && own != publics) {
        const auto differ = std::mismatch(own.begin(), own.end(), publics.begin()).first - own.begin();
        std::fprintf(stderr, "%s gives flow %td another public endpoint\n", name, differ);
        std::exit(1);
    }
    publics = std::move(own);
    return column;
}

void run(const Options& options) {
    std::vector<std::pair<std::string, Column*>> columns;
    std::vector<std::unique_ptr<Column>> kept;
    Publics publics;
    start_dpdk((uint64_t{128} << 20) + uint64_t{options.flows} * 192);
#ifdef GENERATED
    kept.push_back(opened<GeneratedColumn>(options, publics, "generated"));
    columns.emplace_back("generated", kept.back().get());
#endif
    kept.push_back(opened<HandColumn>(options, publics, "hand"));
    columns.emplace_back("hand", kept.back().get());
    const Trace trace(options, publics);
    const double sent = check(columns, trace);

    Buffers buffers;
    for (auto& [name, column] : columns) {
        benchmark::AddCustomContext(name + "_bytes", std::to_string(column->bytes));
        benchmark::RegisterBenchmark(name.c_str(), [&, column = column](benchmark::State& state) {
            measure(state, trace.order.size(), column->cursor, [&](size_t at) {
                trace.copy(at, buffers);
                column->batch(buffers.packets);
            });
            state.counters["emitted"] = static_cast<double>(column->emitted());
        });
    }
    benchmark::AddCustomContext("sent", std::to_string(sent));
    size_t source_cursor = 0, limit_cursor = 0;
    benchmark::RegisterBenchmark("source", [&](benchmark::State& state) {
        measure(state, trace.order.size(), source_cursor, [&](size_t at) {
            trace.copy(at, buffers);
            benchmark::DoNotOptimize(buffers.packets.data());
            benchmark::ClobberMemory();
        });
    });
    const Limit limit(std::max<uint64_t>(columns[0].second->bytes, 65536) / 64);
    benchmark::RegisterBenchmark("limit", [&](benchmark::State& state) {
        measure(state, trace.order.size(), limit_cursor, [&](size_t at) {
            benchmark::DoNotOptimize(limit.read({&trace.order[at], BATCH}));
        });
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
            options.flows = static_cast<uint32_t>(std::stoul(value));
        } else if (name == "--distribution") {
            options.zipf = value == "zipf";
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
