/// What is next: the discrete events of a system, as the time at which each of its parts wants to run.
///
/// A part (a link, the switch, a server) has one place on the agenda, because it keeps its own events in order; so the
/// agenda has a few dozen entries however many frames are on the way, and moving one is a few steps in one cache line.
#pragma once

#include <bit>
#include <vector>

#include "system/time.hpp"

namespace polysome::system {

/// A tournament tree over the parts' times. The earliest runs first, at one instant the one with the lower number:
/// deterministic, whatever the order of calls.
class Agenda {
  public:
    /// Parts 0 to `parts` - 1, none due.
    explicit Agenda(size_t parts) : leaves_(std::bit_ceil(parts < 2 ? size_t{2} : parts)) {
        due_.assign(leaves_, never);
        winner_.resize(leaves_);
        for (size_t node = leaves_ - 1; node > 0; --node) winner_[node] = winner(node);
    }

    /// Part `i` wants to run at `time` (`never`: not at all). O(log parts).
    void set(size_t i, Time time) {
        if (due_[i] == time) return;
        due_[i] = time;
        for (size_t node = (leaves_ + i) / 2; node > 0; node /= 2) winner_[node] = winner(node);
    }
    Time due(size_t i) const { return due_[i]; }
    /// When the next part runs; `never` if none is due.
    Time time() const { return due_[winner_[1]]; }
    /// Which one that is.
    size_t first() const { return winner_[1]; }

  private:
    uint32_t child(size_t node) const {
        return node >= leaves_ ? static_cast<uint32_t>(node - leaves_) : winner_[node];
    }
    uint32_t winner(size_t node) const {
        const uint32_t left = child(2 * node), right = child(2 * node + 1);
        return due_[right] < due_[left] ? right : left;
    }

    size_t leaves_;
    std::vector<Time> due_;
    std::vector<uint32_t> winner_;  ///< of the leaves under a node; node 1 is the root
};

}  // namespace polysome::system
