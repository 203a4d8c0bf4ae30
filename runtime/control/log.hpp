/// What a process of a deployment says, and how it ends: one line for each event on stderr, `program: severity: text`.
#pragma once

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

    const std::string& program() const { return program_; }

  private:
    void write(const char* severity, const std::string& text) {
        const std::lock_guard lock(mutex_);
        std::fprintf(stderr, "%s: %s: %s\n", program_.c_str(), severity, text.c_str());
        std::fflush(stderr);
    }

    std::string program_;
    std::mutex mutex_;
};

}  // namespace polysome::control
