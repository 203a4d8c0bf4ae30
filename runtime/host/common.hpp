/// What all host programs share: errors and exit codes, stopping, counters, statistics of every second.
#pragma once

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nf/sharded.hpp"

namespace polysome::host {

/// What stops a host, in words for its user. `code`: 2 the command line is at fault, 3 the environment.
struct Failure : std::runtime_error {
    Failure(int exit_code, const std::string& words) : std::runtime_error(words), code(exit_code) {}
    int code;
};

/// Set by signals: SIGINT and SIGTERM ask to stop, SIGHUP to read the config again.
inline std::atomic<bool> stop_asked = false;
inline std::atomic<bool> reload_asked = false;

inline void watch_signals(bool reload) {
    struct sigaction action{};
    action.sa_handler = [](int) { stop_asked = true; };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    if (!reload) return;
    action.sa_handler = [](int) { reload_asked = true; };
    sigaction(SIGHUP, &action, nullptr);
}

inline std::vector<uint8_t> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Failure(3, "cannot read " + path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline uint64_t whole_number(std::string_view option, std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
        throw Failure(2, std::string(option) + " takes a whole number from 1 on, not `" + std::string(text) + "`");
    }
    return value;
}

/// The number of a port of the spec.
template <class Nf>
uint16_t port_number(std::string_view name) {
    for (size_t i = 0; i < Nf::port_names.size(); ++i) {
        if (Nf::port_names[i] == name) return static_cast<uint16_t>(i);
    }
    std::string known;
    for (const auto& port : Nf::port_names) known += (known.empty() ? "" : ", ") + std::string(port);
    throw Failure(2, "no port `" + std::string(name) + "`; this NF has " + known);
}

/// `PORT=WHAT`, or (-1, text) without a `=`.
template <class Nf>
std::pair<int, std::string> port_and_rest(std::string_view text) {
    const size_t at = text.find('=');
    if (at == text.npos) return {-1, std::string(text)};
    return {port_number<Nf>(text.substr(0, at)), std::string(text.substr(at + 1))};
}

/// The options of a command line, in pairs `--name value`.
inline std::vector<std::pair<std::string_view, std::string_view>> option_pairs(int argc, char** argv) {
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) throw Failure(2, std::string(argv[i]) + " needs a value");
        pairs.emplace_back(argv[i], argv[i + 1]);
    }
    return pairs;
}

/// The accounting of L13.1, one line a reason.
template <class Nf, class Count>
void print_counters(std::FILE* out, const Count& counters, uint64_t held) {
    const auto line = [&](std::string_view name, uint64_t n) {
        std::fprintf(out, "%-40.*s %14llu\n", static_cast<int>(name.size()), name.data(),
                     static_cast<unsigned long long>(n));
    };
    line("packets in", counters.packets_in);
    line("sent", counters.sent);
    for (size_t i = 1; i < Nf::reasons.size(); ++i) {
        if (counters.dropped[i] != 0) line("dropped: " + std::string(Nf::reasons[i]), counters.dropped[i]);
    }
    line("held", held);
    line("copies", counters.copies);
    line("emitted", counters.emitted);
}

/// A line on stderr every second that passes: packets per second in, out (copies and emitted) and dropped.
class Statistics {
  public:
    using Time = std::chrono::steady_clock;

    /// Called often; asks the clock each time, and nothing else if the second is not over.
    template <class Machines>
    void tick(const Machines& machines) {
        const auto now = Time::now();
        if (now - last_ < std::chrono::seconds(1)) return;
        const auto counters = machines.counters();
        uint64_t dropped = 0;
        for (const uint64_t n : counters.dropped) dropped += n;
        const double seconds = std::chrono::duration<double>(now - last_).count();
        const uint64_t out = counters.copies + counters.emitted;
        std::fprintf(stderr, "%8.1f s  in %12.0f/s  out %12.0f/s  dropped %12.0f/s  held %llu\n",
                     std::chrono::duration<double>(now - start_).count(),
                     static_cast<double>(counters.packets_in - in_) / seconds,
                     static_cast<double>(out - out_) / seconds, static_cast<double>(dropped - dropped_) / seconds,
                     static_cast<unsigned long long>(machines.held()));
        in_ = counters.packets_in;
        out_ = out;
        dropped_ = dropped;
        last_ = now;
    }
    double seconds() const { return std::chrono::duration<double>(Time::now() - start_).count(); }

  private:
    Time::time_point start_ = Time::now();
    Time::time_point last_ = start_;
    uint64_t in_ = 0;
    uint64_t out_ = 0;
    uint64_t dropped_ = 0;
};

/// Runs a host's body; what it fails of is one line on stderr and the exit code.
template <class Body>
int run_host(std::string_view name, Body body) {
    try {
        body();
        return 0;
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(name.size()), name.data(), failure.what());
        return failure.code;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(name.size()), name.data(), error.what());
        return 3;
    }
}

}  // namespace polysome::host
