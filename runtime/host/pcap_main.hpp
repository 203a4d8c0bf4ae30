/// A program that runs an NF on captures in memory: POLYSOME_PCAP_HOST(Nf) defines its main.
///
///   --in PORT=FILE    a capture that arrives at a port; any number of them
///   --out FILE        all that leaves, in its order; or --out PORT=FILE for what leaves at one port
///   --config BLOB     the config (`polysome compile` writes it); needed if the NF has one
///   --repeat N        the captures N times over, one after the other: time goes on
///   --cores N         so many shards on one time line (sharded.hpp)
///
/// Counters go to stdout at the end, a line every second to stderr. SIGINT and SIGTERM end the run as its end does:
/// outputs and counters are complete for what arrived. Exit code 0; 2 for a wrong command line; 3 for the environment.
#pragma once

#include <memory>

#include "host/pcap.hpp"

namespace polysome::host {

/// What a pcap host is asked to do.
struct PcapOptions {
    std::vector<Capture> captures;
    std::vector<std::pair<int, std::string>> outputs;  ///< port (-1: all), file
    std::vector<uint8_t> config;
    uint64_t repeat = 1;
    uint32_t cores = 1;
};

template <class Nf>
PcapOptions pcap_options(int argc, char** argv) {
    PcapOptions options;
    for (const auto& [name, value] : option_pairs(argc, argv)) {
        if (name == "--in") {
            const auto [port, file] = port_and_rest<Nf>(value);
            if (port < 0) throw Failure(2, "--in takes PORT=FILE, not `" + file + "`");
            options.captures.emplace_back(file, static_cast<uint16_t>(port));
        } else if (name == "--out") {
            options.outputs.push_back(port_and_rest<Nf>(value));
        } else if (name == "--config") {
            options.config = read_file(std::string(value));
        } else if (name == "--repeat") {
            options.repeat = whole_number(name, value);
        } else if (name == "--cores") {
            options.cores = static_cast<uint32_t>(std::min<uint64_t>(whole_number(name, value), 1024));
        } else {
            throw Failure(2,
                          "no option `" + std::string(name) +
                              "`; there are --in PORT=FILE, --out [PORT=]FILE, --config BLOB, --repeat N, --cores N");
        }
    }
    if (options.captures.empty()) throw Failure(2, "nothing to do: give at least one --in PORT=FILE");
    return options;
}

/// Writes what leaves to the captures asked for.
struct PcapSink {
    struct Output {
        int port;
        std::unique_ptr<CaptureWriter> file;
    };
    std::vector<Output> outputs;

    void left(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t) {
        for (Output& output : outputs) {
            if (output.port < 0 || output.port == port) output.file->packet(time, bytes);
        }
    }
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t cause) {
        left(port, time, bytes, cause);
    }
    void dropped(uint64_t, uint16_t) {}
    template <class Packet>
    void decided(uint64_t, uint64_t, const Packet&) {}
};

/// Copies of frames, which a machine may change; a batch at a time.
class FrameBatch {
  public:
    template <class Machines>
    void run(Machines& machines, std::span<const Merged> frames, uint64_t shift) {
        size_t bytes = 0;
        for (const Merged& frame : frames) bytes += frame.size;
        if (bytes_.size() < bytes) bytes_.resize(bytes);
        std::array<Arrival, largest_batch> batch;
        uint8_t* to = bytes_.data();
        for (size_t i = 0; i < frames.size(); ++i) {
            const Merged& frame = frames[i];
            if (frame.size != 0) std::memcpy(to, frame.data, frame.size);
            batch[i] = {frame.time + shift, to, frame.size, frame.port};
            to += frame.size;
        }
        machines.arrive(std::span(batch).first(frames.size()));
    }

  private:
    std::vector<uint8_t> bytes_;
};

template <class Nf>
void pcap_host(int argc, char** argv) {
    const PcapOptions options = pcap_options<Nf>(argc, argv);
    PcapSink sink;
    for (const auto& [port, file] : options.outputs)
        sink.outputs.push_back({port, std::make_unique<CaptureWriter>(file)});
    const auto machines = std::make_unique<Sharded<Nf, PcapSink>>(sink, options.cores);
    if (!machines->configure(options.config)) throw Failure(3, "the config is not one of this NF");
    watch_signals(false);

    const std::vector<Merged> frames = merge(options.captures);
    // A repetition begins one mean gap after the end of the one before.
    const uint64_t span = frames.empty() ? 0 : frames.back().time - frames.front().time;
    const uint64_t period = span + std::max<uint64_t>(1, frames.size() < 2 ? 1 : span / (frames.size() - 1));
    Statistics statistics;
    FrameBatch batch;
    for (uint64_t round = 0; round < options.repeat && !stop_asked; ++round) {
        for (size_t i = 0; i < frames.size() && !stop_asked; i += largest_batch) {
            batch.run(*machines, std::span(frames).subspan(i, std::min(largest_batch, frames.size() - i)),
                      round * period);
            statistics.tick(*machines);
        }
    }
    machines->finish();
    const double seconds = statistics.seconds();
    for (auto& output : sink.outputs) output.file->close();
    const auto counters = machines->counters();
    print_counters<Nf>(stdout, counters, machines->held());
    std::fprintf(stderr, "%.3f s, %.0f packets/s\n", seconds, static_cast<double>(counters.packets_in) / seconds);
}

}  // namespace polysome::host

/// The main function of a program that runs `Nf`, a generated NF, on captures.
#define POLYSOME_PCAP_HOST(Nf)                                                                         \
    int main(int argc, char** argv) {                                                                  \
        return polysome::host::run_host(Nf::name, [&] { polysome::host::pcap_host<Nf>(argc, argv); }); \
    }
