/// A minimal controller of the split protocol: it puts the switch into service, and brings back queue pairs that the
/// switch has taken down (DESIGN 6, rule 5). It moves no load between servers.
///
/// It sees the switch through SplitTables and the servers through AgentDriver, and acts in named steps, so that another
/// controller can do the same from elsewhere.
#pragma once

#include <algorithm>
#include <vector>

#include "system/server.hpp"

namespace polysome::system {

/// Where the switch finds a queue pair, and how it talks to it.
struct QueuePairEntry {
    uint16_t server = 0;      ///< its number
    uint32_t pair = 0;        ///< which one of the server's
    uint32_t answers_to = 0;  ///< the switch's own queue pair number
    QueuePairNumbers numbers{};
};

/// The program of the split protocol in a switch, by what its controller wants of it.
class SplitTables {
  public:
    virtual ~SplitTables() = default;

    /// Is the queue pair in service?
    virtual bool up(size_t qp) = 0;
    /// Takes the queue pair out of service, or into it: at once, for the next packet.
    virtual void set_up(size_t qp, bool up) = 0;
    /// Requests go to these numbers from now on: the next one has `entry.numbers.psn`, and the one before it counts as
    /// the last acknowledged one.
    virtual void set_queue_pair(size_t qp, const QueuePairEntry& entry) = 0;
    /// No READ is under way (rule 6), and nobody is silent (rule 4).
    virtual void clear_history(size_t qp) = 0;
};

struct ControllerConfig {
    Time poll = 1'000'000;  ///< ns between two looks at the switch
    Time longest_queueing =
        100'000;               ///< ns in which all that waits in the switch leaves; less than the silence of a sweep
    unsigned index_bits = 10;  ///< of a queue pair's place in the switch, the lower part of our number for it
};

/// Our number for queue pair `qp`, other than its last ones: `generation` counts from 1 and begins again after all that
/// 24 bits hold, so the numbers 0 and 1, which are reserved, never come up.
constexpr uint32_t answers_to(uint32_t generation, size_t qp, unsigned index_bits) {
    const uint32_t generations = (uint32_t{1} << (24 - index_bits)) - 2;
    return ((generation - 1) % generations + 1) << index_bits | static_cast<uint32_t>(qp);
}

class Controller {
  public:
    /// What is being done for a queue pair.
    enum class Phase : uint8_t {
        serving,   ///< up
        draining,  ///< down; what is in queues still leaves, and its answers are ignored
    };

    Controller(SplitTables& tables, AgentDriver& agents, const ControllerConfig& config,
               std::vector<QueuePairEntry> pairs)
        : tables_(tables), agents_(agents), config_(config) {
        for (const QueuePairEntry& entry : pairs) pairs_.push_back({entry, Phase::serving, 0, 1});
    }

    /// Puts all queue pairs into service.
    void start() {
        for (size_t qp = 0; qp < pairs_.size(); ++qp) enter(qp);
    }

    /// One look at every queue pair: takes note of those that have gone down, and does the next step for the others.
    void poll(Time now) {
        for (size_t qp = 0; qp < pairs_.size(); ++qp) {
            const Pair& pair = pairs_[qp];
            if (pair.phase == Phase::draining) {
                if (now >= pair.drained) restore(qp, now);
            } else if (!tables_.up(qp)) {
                ++down_;
                ++downs_;
                drain(qp, now);
            }
        }
    }
    /// When poll() has to be called for the next step of a queue pair; `never` if all are in service.
    Time next() const {
        Time first = never;
        for (const Pair& pair : pairs_) {
            if (pair.phase == Phase::draining) first = std::min(first, pair.drained);
        }
        return first;
    }

    /// Is any queue pair not in service, as far as is known?
    bool busy() const { return down_ != 0; }
    Phase phase(size_t qp) const { return pairs_.at(qp).phase; }
    const QueuePairEntry& entry(size_t qp) const { return pairs_.at(qp).entry; }
    uint64_t downs() const { return downs_; }
    uint64_t restores() const { return restores_; }
    const ControllerConfig& config() const { return config_; }

  private:
    struct Pair {
        QueuePairEntry entry;
        Phase phase;
        Time drained;         ///< draining: until when
        uint32_t generation;  ///< of our number
    };

    /// Step 1, down: the switch has done so already; said again, so that it holds whoever was first. Its history goes
    /// too, so that no sweep finds it silent: what one does takes effect a recirculation later, and must not meet a
    /// queue pair that is up again.
    void drain(size_t qp, Time now) {
        tables_.set_up(qp, false);
        tables_.clear_history(qp);
        pairs_[qp].phase = Phase::draining;
        pairs_[qp].drained = now + config_.longest_queueing;
    }
    /// Step 2, new numbers at both ends, and a PSN, from the agent: what still answers the old ones is not heard. If it
    /// does not answer, once more from step 1.
    void restore(size_t qp, Time now) {
        QueuePairEntry& entry = pairs_[qp].entry;
        const uint32_t ours = answers_to(pairs_[qp].generation + 1, qp, config_.index_bits);
        const auto numbers = agents_.reset(entry.server, entry.pair, ours);
        if (!numbers) return drain(qp, now);
        ++pairs_[qp].generation;
        entry.answers_to = ours;
        entry.numbers = *numbers;
        enter(qp);
        pairs_[qp].phase = Phase::serving;
        --down_;
        ++restores_;
    }
    /// Steps 3 to 5: tables, no history, up.
    void enter(size_t qp) {
        tables_.set_queue_pair(qp, pairs_[qp].entry);
        tables_.clear_history(qp);
        tables_.set_up(qp, true);
    }

    SplitTables& tables_;
    AgentDriver& agents_;
    ControllerConfig config_;
    std::vector<Pair> pairs_;
    size_t down_ = 0;
    uint64_t downs_ = 0, restores_ = 0;
};

}  // namespace polysome::system
