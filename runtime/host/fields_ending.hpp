/// How an NF host ends: SIGINT ends it at once. SIGTERM asks it to hand its state over: it goes on until the controller
/// says that the switch holds its frames (runtime/PROTOCOL.md, rule 16), so that none is lost meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>

#include "control/mailbox.hpp"

namespace polysome::host {

/// All but `asked` and `watched` belong to the loop's thread.
class Ending {
  public:
    using Time = std::chrono::steady_clock;

    /// The loop polls descriptor() for input and then calls look().
    int descriptor() const { return signals_.descriptor(); }
    void look() {
        while (const int number = signals_.take()) {
            if (number != SIGTERM || asked_) {
                at_once_ = true;
            } else {
                asked_ = true;
                deadline_ = Time::now() + (Time::now() - last_watched_.load() < patience ? patience : Time::duration());
            }
        }
    }
    bool over() const { return at_once_ || (asked_ && (held_ || Time::now() >= deadline_)); }

    /// Any thread: was it asked to hand over?
    bool asked() const { return asked_; }
    /// Any thread: the controller looks at us, so it is worth to wait for it.
    void watched() { last_watched_ = Time::now(); }
    /// The switch holds the frames.
    void held() { held_ = true; }
    /// Is the state for another process? Asked at the end.
    bool hands_over() const { return asked_ && !at_once_; }

    static constexpr std::chrono::seconds patience{3};

  private:
    control::Signals signals_;
    std::atomic<bool> asked_ = false;
    std::atomic<Time::time_point> last_watched_{Time::time_point()};
    bool at_once_ = false, held_ = false;
    Time::time_point deadline_;
};

}  // namespace polysome::host
