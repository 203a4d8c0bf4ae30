/// The NF server: a receive queue, a core that takes bursts from it and needs time for each frame, and the NF, which
/// decides on frames (nf/fields_frames.hpp).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nf/fields_frames.hpp"
#include "nf/machine.hpp"
#include "system/link.hpp"

namespace polysome::system {

struct NfHostConfig {
    uint32_t queue = 1024;  ///< frames that wait; more are dropped
    uint32_t burst = 32;    ///< frames taken at once, 1 to 64
    Time frame_time = 20;   ///< ns of the core for each frame; answers leave when the burst is done
    std::vector<Interval> stuck{};
};

/// `Nf`: generated code, as Machine takes it.
template <class Nf>
class NfHost {
    using Core = FieldsNf<Nf>;

  public:
    static constexpr std::span<const std::string_view> reasons = Core::reasons;

    /// `out`: the link to the switch.
    NfHost(Commons& commons, Link& out, const NfHostConfig& config, std::span<const uint64_t> sizes, bool collide)
        : commons_(commons),
          out_(out),
          config_(config),
          sink_{*this},
          machine_(sink_, sizes, collide, std::clamp<uint32_t>(config.burst, 1, largest_batch)),
          queue_full_(commons.ledger.cause("nf: receive queue full")),
          not_ours_(commons.ledger.cause("nf: malformed frame")) {
        config_.burst = std::clamp<uint32_t>(config.burst, 1, largest_batch);
    }
    NfHost(const NfHost&) = delete;
    NfHost& operator=(const NfHost&) = delete;

    bool configure(std::span<const uint8_t> blob) { return machine_.configure(blob); }
    void change_at(Time time, std::span<const uint8_t> blob) { machine_.change_at(time, blob); }

    /// A frame from the link; the host's from then on.
    void receive(const Frame& frame, Time now) {
        const bool ours = Tag::accepts(frame.data, frame.size);
        if (!ours || queue_.size() >= config_.queue) {
            ++(ours ? refused_ : malformed_);
            commons_.ledger.incident(frame.mark, ours ? queue_full_ : not_ours_);
            return give_back(commons_.pool, frame);
        }
        commons_.ledger.reached(frame.mark, Step::at_nf);
        if (queue_.empty()) poll_ = awake(std::max(now, busy_));
        queue_.push(frame);
    }

    /// When the core looks into its queue next; `never` if that is empty.
    Time next_poll() const { return queue_.empty() ? never : poll_; }
    /// Takes a burst.
    void poll(Time now) {
        const size_t n = std::min<size_t>(queue_.size(), config_.burst);
        for (size_t i = 0; i < n; ++i) take(i, now);
        busy_ = now + n * config_.frame_time;
        answers_at_ = busy_;
        machine_.arrive(std::span(arrivals_).first(n));
        for (size_t i = 0; i < n; ++i) give_back(commons_.pool, burst_[i]);
        poll_ = awake(busy_);
    }

    /// When the NF has something to do without a frame, or may have; `never` before its first frame.
    Time next_wake() const { return wake_; }
    /// Does what is due.
    void run_due(Time now) {
        answers_at_ = now + config_.frame_time;
        machine_.advance(now);
        plan_wake(now);
    }
    /// To be called after poll(): what is due then may have changed.
    void plan_wake(Time now) {
        const Time due = std::min(machine_.next_due(now + look_ahead), now + look_ahead);
        wake_ = awake(std::max({due, now + 1, busy_}));
    }

    /// The end: what is due at the last event's time still happens.
    void finish() { machine_.finish(); }

    const auto& counters() const { return machine_.counters(); }
    uint64_t held() const { return machine_.held(); }
    Time now() const { return machine_.now(); }
    bool failed() const { return machine_.failed(); }
    size_t waiting() const { return queue_.size(); }
    uint64_t refused() const { return refused_; }
    uint64_t malformed() const { return malformed_; }
    uint64_t bursts() const { return bursts_; }
    uint64_t made() const { return made_; }

  private:
    static constexpr Time look_ahead = 10'000'000;  ///< ns; entries that end later are looked for later

    struct Sink {
        NfHost& host;

        void left(uint16_t port, uint64_t time, std::span<const uint8_t> answer, uint64_t order) {
            host.left(port, time, answer, order);
        }
        void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> frame, uint64_t cause) {
            host.emitted(port, time, frame, cause);
        }
        void dropped(uint64_t order, uint16_t reason) { host.dropped(order, reason); }
        template <class Packet>
        void decided(uint64_t, uint64_t, const Packet&) {}
    };
    /// Not before the core stops being stuck.
    Time awake(Time at) const {
        for (const Interval& interval : config_.stuck) {
            if (interval.has(at)) at = interval.to;
        }
        return at;
    }

    /// Frame `i` of the burst. What the machine calls the order of a packet is the number of its decision.
    void take(size_t i, Time now) {
        burst_[i] = queue_.pop();
        Frame& frame = burst_[i];
        if (i == 0) ++bursts_;
        const uint16_t port = Tag::port(frame.data);
        const uint64_t packet = commons_.ledger.packet_of(frame.mark);
        const uint64_t decision = commons_.ledger.decides(packet);
        const std::span<const uint8_t> tag(frame.data + Tag::link, Tag::head - Tag::link);
        commons_.recorder.write(Record::decided, port, std::max(now, machine_.now()), decision, packet, tag);
        arrivals_[i] = {now, frame.data, frame.size, port};
    }

    void left(uint16_t port, Time time, std::span<const uint8_t> answer, uint64_t decision) {
        const uint64_t mark = Mark::of(Mark::decision, decision);
        commons_.recorder.write(Record::answered, port, time, decision, commons_.ledger.packet_of(mark));
        commons_.ledger.sends(mark, Tag::length(answer.data()));
        out_.send(answer, mark, answers_at_);
    }

    void emitted(uint16_t port, Time time, std::span<const uint8_t> frame, uint64_t cause) {
        const uint64_t mark = Mark::of(Mark::emission, made_);
        commons_.recorder.write(Record::made, port, time, made_++, cause, Tag::packet(frame));
        commons_.ledger.sends(mark, Tag::length(frame.data()));
        out_.send(frame, mark, answers_at_);
    }

    void dropped(uint64_t decision, uint16_t reason) {
        commons_.ledger.dropped(decision);
        commons_.recorder.write(Record::dropped, reason, machine_.now(), decision,
                                commons_.ledger.packet_of(Mark::of(Mark::decision, decision)));
    }

    Commons& commons_;
    Link& out_;
    NfHostConfig config_;
    Sink sink_;
    Machine<Core, Sink> machine_;
    Cause queue_full_, not_ours_;
    Ring<Frame> queue_;
    std::array<Frame, largest_batch> burst_;
    std::array<Arrival, largest_batch> arrivals_;
    Time poll_ = 0;
    Time busy_ = 0;
    Time answers_at_ = 0;
    Time wake_ = never;
    uint64_t refused_ = 0, malformed_ = 0, bursts_ = 0, made_ = 0;
};

}  // namespace polysome::system
