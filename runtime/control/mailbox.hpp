/// How threads ask a loop to do something between two of its rounds, and how signals end it.
#pragma once

#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <functional>
#include <future>
#include <mutex>

#include "control/log.hpp"

namespace polysome::control {

/// The loop polls descriptor() for input and then calls serve(). Commands are done in the order in which they came.
class Mailbox {
  public:
    Mailbox() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
        if (event_ < 0) throw Failure(3, "no eventfd: the limit of open files is too low");
    }
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;
    ~Mailbox() { close(event_); }

    int descriptor() const { return event_; }

    /// The loop's thread only: does all that waits.
    void serve() {
        uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
        for (;;) {
            std::packaged_task<void()> task;
            {
                const std::scoped_lock lock(mutex_);
                if (waiting_.empty()) return;
                task = std::move(waiting_.front());
                waiting_.pop_front();
            }
            task();
        }
    }

    /// Any other thread: has the loop call `command`, and waits for it. What that throws is thrown here; false if the
    /// loop has ended, and nothing was done.
    bool run(std::function<void()> command) {
        std::packaged_task<void()> task(std::move(command));
        std::future<void> done = task.get_future();
        {
            const std::scoped_lock lock(mutex_);
            if (ended_) return false;
            waiting_.push_back(std::move(task));
        }
        const uint64_t one = 1;
        [[maybe_unused]] const auto put = write(event_, &one, sizeof one);
        done.get();
        return true;
    }

    /// The loop ends: what waits is done, and nothing is taken any more.
    void end() {
        {
            const std::scoped_lock lock(mutex_);
            ended_ = true;
        }
        serve();
    }

  private:
    int event_;
    std::mutex mutex_;
    std::deque<std::packaged_task<void()>> waiting_;
    bool ended_ = false;
};

/// SIGINT and SIGTERM as input of a descriptor. To be made before any thread, which inherits that they are blocked.
class Signals {
  public:
    Signals() {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        signal(SIGPIPE, SIG_IGN);
        descriptor_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
        if (descriptor_ < 0) throw Failure(3, "no signalfd: the limit of open files is too low");
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() { close(descriptor_); }

    int descriptor() const { return descriptor_; }
    /// One that came, 0 if none did: then the descriptor has no input any more.
    int take() const {
        signalfd_siginfo came{};
        return read(descriptor_, &came, sizeof came) == sizeof came ? static_cast<int>(came.ssi_signo) : 0;
    }

  private:
    int descriptor_;
};

}  // namespace polysome::control
