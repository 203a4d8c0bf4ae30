/// A question that is answered by a copy of this process: fork, answer, end. The copy has the state as it is at that
/// moment (copy on write) and changes only its own; who asks waits elsewhere, and the loop goes on.
///
/// Only the thread that forks lives on in the copy: it computes and writes to a pipe, and touches no other thread's
/// things. fork takes the time that copying the page tables needs, about a ms for each 100 MB in small pages.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace polysome::host {

/// The copy, seen from the process that made it. Movable; ends the copy, and what that started, with itself.
class Child {
  public:
    using Time = std::chrono::steady_clock::time_point;

    /// `body(std::vector<uint8_t>& answer)` runs in the copy; what it throws, or a crash, is an answer that never
    /// comes. Throws std::runtime_error if the system makes no copy.
    template <class Body>
    explicit Child(const Body& body) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
        process_ = fork();
        if (process_ == 0) {
            close(ends[0]);
            answer(ends[1], body);
        }
        const int error = errno;
        close(ends[1]);
        pipe_ = ends[0];
        if (process_ > 0) {
            setpgid(process_, process_);
            return;
        }
        close(pipe_);
        throw std::runtime_error(std::string("no copy of the process: ") + std::strerror(error));
    }
    Child(Child&& other) noexcept
        : process_(std::exchange(other.process_, -1)), pipe_(std::exchange(other.pipe_, -1)) {}
    Child& operator=(Child&&) = delete;
    ~Child() {
        if (process_ <= 0) return;
        kill(-process_, SIGKILL);
        kill(process_, SIGKILL);
        while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
        close(pipe_);
    }

    /// All that the copy said; nothing if it was not done by `deadline`, or failed.
    std::optional<std::vector<uint8_t>> answer_by(Time deadline) {
        std::vector<uint8_t> all;
        for (;;) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
            pollfd ready{pipe_, POLLIN, 0};
            if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) return {};
            uint8_t some[4096];
            const ssize_t n = ::read(pipe_, some, sizeof some);
            if (n > 0) {
                all.insert(all.end(), some, some + n);
            } else if (n == 0) {
                break;
            } else if (errno != EINTR) {
                return {};
            }
        }
        if (all.empty() || all.back() != done) return {};
        all.pop_back();
        return all;
    }

  private:
    static constexpr uint8_t done = 0xd0;  ///< the last byte of an answer that is complete

    template <class Body>
    [[noreturn]] static void answer(int pipe, const Body& body) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::vector<uint8_t> said;
        try {
            body(said);
            said.push_back(done);
        } catch (...) {
            said.clear();
        }
        for (size_t at = 0; at < said.size();) {
            const ssize_t n = write(pipe, said.data() + at, said.size() - at);
            if (n < 0 && errno != EINTR) break;
            if (n > 0) at += static_cast<size_t>(n);
        }
        _exit(0);
    }

    pid_t process_ = -1;
    int pipe_ = -1;
};

}  // namespace polysome::host
