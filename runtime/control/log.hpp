/// What a process of a deployment says, and how it ends: one line for each event on stderr, `program: severity: text`.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace polysome::control {

/// What ends a process, in words for its user. `code`: 2 its configuration is at fault, 3 the environment.
struct Failure : std::runtime_error {
    Failure(int exit_code, const std::string& text) : std::runtime_error(text), code(exit_code) {}
    int code;
};

/// Thread-safe: lines of several threads do not mix.
class Log {
  public:
    explicit Log(std::string program) : program_(std::move(program)) {}

    void info(const std::string& text) { write("info", text); }
    void warning(const std::string& text) { write("warning", text); }
    void error(const std::string& text) { write("error", text); }

    /// A warning that a peer can cause as often as it likes: a few in each interval, then how many more there were.
    void refused(const std::string& what, const std::string& why) {
        const auto now = std::chrono::steady_clock::now();
        uint64_t left_out = 0;
        {
            const std::scoped_lock lock(mutex_);
            if (now - since_ >= interval) {
                left_out = refusals_ > most ? refusals_ - most : 0;
                since_ = now;
                refusals_ = 0;
            }
            if (++refusals_ > most) return;
        }
        if (left_out != 0) warning("refused " + std::to_string(left_out) + " more before this one");
        warning("refused " + what + ": " + why);
    }

    const std::string& program() const { return program_; }

  private:
    void write(const char* severity, const std::string& text) {
        const std::scoped_lock lock(mutex_);
        std::fprintf(stderr, "%s: %s: %s\n", program_.c_str(), severity, text.c_str());
        std::fflush(stderr);
    }

    static constexpr std::chrono::seconds interval{10};
    static constexpr uint64_t most = 20;  ///< refusals in an interval that are told one by one

    std::string program_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point since_;
    uint64_t refusals_ = 0;
};

}  // namespace polysome::control
