/// A shared server: its RDMA NIC, the agent's part in it, and whatever else is sent to it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rdma/responder.hpp"
#include "system/link.hpp"

namespace polysome::system {

/// What the agent answers when it has reset a queue pair: the numbers that the switch has to use from now on.
struct QueuePairNumbers {
    uint32_t qpn;
    uint32_t psn;  ///< of the first request
};

class Server {
  public:
    /// `number`: the server's. Its queue pairs are silent until each is reset; numbers and PSNs are drawn from the
    /// seed.
    Server(Commons& commons, size_t number, const rdma::Config& config, uint32_t queue_pairs, uint64_t seed)
        : commons_(commons),
          number_(static_cast<uint16_t>(number)),
          nic_(config),
          pairs_(queue_pairs),
          marks_(queue_pairs),
          random_(seed, "server" + std::to_string(number) + " numbers"),
          refused_(commons.ledger.cause(named("refused"))),
          flipped_(commons.ledger.cause(named("corrupted head"))) {
        for (size_t i = 0; i < rdma::DROPS; ++i) causes_[i] = commons.ledger.cause(named(rdma::DROP_NAMES[i]));
    }

    // ---- the agent; it answers as long as the server is alive

    bool alive() const { return nic_.alive(); }
    /// Which of the agent's runs this is, from 1.
    uint64_t run() const { return run_; }

    /// A queue pair gets a new number and PSN, and is ready, its answers for the switch's number `answers_to`.
    QueuePairNumbers reset(uint32_t pair, uint32_t switch_ip, uint32_t answers_to) {
        const QueuePairNumbers numbers = fresh();
        std::optional<uint32_t>& known = pairs_.at(pair);
        if (known) {
            by_qpn_.erase(nic_.pair(*known).qpn);
            by_answer_.erase(nic_.pair(*known).peer.qpn);
            nic_.reset(*known, numbers.qpn, numbers.psn, answers_to);
            marks_[*known] = {};
            ++resets_;
        } else {
            known = nic_.add(numbers.qpn, {commons_.switch_mac, switch_ip, answers_to}, numbers.psn);
        }
        by_qpn_[numbers.qpn] = by_answer_[answers_to] = *known;
        return numbers;
    }
    /// Is the queue pair as the last reset has made it, and of use?
    bool ready(uint32_t pair) const { return pairs_.at(pair) && nic_.pair(*pairs_[pair]).state == rdma::State::ready; }
    /// Memory is full of ones. O(region), unless it is already.
    void clear() {
        if (nic_.counters().writes != cleared_at_) nic_.clear();
        cleared_at_ = nic_.counters().writes;
    }

    // ---- what goes wrong

    void kill() {
        nic_.kill();
        for (Ring<uint64_t>& waiting : marks_) waiting = {};
    }
    void revive() {
        nic_.revive();
        ++run_;
    }
    /// Each queue pair's next request gets a fatal NAK.
    void fail() {
        for (uint32_t pair = 0; pair < nic_.size(); ++pair) nic_.fail(pair);
    }

    // ---- frames

    /// A frame from the link; `emit(bytes, mark)` takes answers.
    template <class Emit>
    void receive(const Frame& frame, Time now, Emit&& emit) {
        const bool request = kind_on_server_link(frame.bytes(), commons_.switch_mac, true) != Kind::other;
        if (!request) {
            if (frame.flipped) return commons_.ledger.incident(frame.mark, flipped_);
            ++host_frames_;
            commons_.recorder.write(Record::host, number_, now, no_number, commons_.ledger.packet_of(frame.mark),
                                    frame.bytes());
            return commons_.ledger.left(frame.mark);
        }
        const rdma::Bth bth = rdma::read_bth(frame.data + rdma::BTH_AT);
        const bool is_read = bth.opcode == rdma::Opcode::read_request;
        if (is_read) commons_.ledger.reached(frame.mark, Step::at_server);
        const rdma::Counters before = nic_.counters();
        asking_ = frame.mark;
        answered_ = false;
        nic_.receive(frame.bytes(), now, [&](std::span<const uint8_t> bytes) { answer(bytes, emit); });
        if (!accepted(before, frame.mark)) return;
        const auto pair = by_qpn_.find(bth.qpn);
        // A WRITE that comes again is answered whether it asks for that or not.
        const bool answered = is_read || bth.ack_request || nic_.counters().repeated != before.repeated;
        if (!answered_ && answered && pair != by_qpn_.end()) marks_[pair->second].push(frame.mark);
    }
    Time next() const { return nic_.next(); }
    template <class Emit>
    void advance(Time now, Emit&& emit) {
        nic_.advance(now, [&](std::span<const uint8_t> bytes) { answer(bytes, emit); });
    }

    const rdma::Responder& nic() const { return nic_; }
    uint64_t host_frames() const { return host_frames_; }
    uint64_t resets() const { return resets_; }

  private:
    std::string named(const char* what) const { return "server" + std::to_string(number_) + ": " + what; }

    /// A number that no queue pair of this NIC has had lately, and any PSN.
    QueuePairNumbers fresh() {
        next_qpn_ = next_qpn_ == 0 ? 0x100 + static_cast<uint32_t>(random_.below(0x1000)) : next_qpn_ + 1;
        if (next_qpn_ >= 0xfffff0) next_qpn_ = 0x100;
        return {next_qpn_, static_cast<uint32_t>(random_.below(rdma::PSN_MASK + uint64_t{1}))};
    }

    /// An answer has the mark of its request. A queue pair answers in the order it was asked, so what waits is a queue;
    /// with none that waits, it answers the request that has just come. (PSNs name no request: those of a gap come
    /// again.)
    template <class Emit>
    void answer(std::span<const uint8_t> bytes, Emit&& emit) {
        const rdma::Bth bth = rdma::read_bth(bytes.data() + rdma::BTH_AT);
        Ring<uint64_t>& waiting = marks_[by_answer_.at(bth.qpn)];
        answered_ = waiting.empty();
        const uint64_t mark = waiting.empty() ? asking_ : waiting.front();
        const bool more =
            bth.opcode == rdma::Opcode::read_response_first || bth.opcode == rdma::Opcode::read_response_middle;
        if (!waiting.empty() && !more) waiting.pop();
        emit(bytes, mark);
    }

    /// Is there an answer to the request, now or later? If it was not executed, that is why it is lost.
    bool accepted(const rdma::Counters& before, uint64_t mark) {
        const rdma::Counters& after = nic_.counters();
        if (after.requests != before.requests || after.repeated != before.repeated) return true;
        if (after.refused != before.refused) {
            commons_.ledger.incident(mark, refused_);
            return true;
        }
        for (size_t i = 0; i < rdma::DROPS; ++i) {
            if (after.drops[i] != before.drops[i]) commons_.ledger.incident(mark, causes_[i]);
        }
        return false;
    }

    Commons& commons_;
    uint16_t number_;
    rdma::Responder nic_;
    std::vector<std::optional<uint32_t>> pairs_;  ///< the NIC's index of each, once it is made
    std::vector<Ring<uint64_t>> marks_;           ///< of the requests, by that index, whose answers wait
    Random random_;
    Cause refused_, flipped_;
    std::array<Cause, rdma::DROPS> causes_{};
    std::unordered_map<uint32_t, uint32_t> by_qpn_;     ///< the NIC's numbers, to pairs
    std::unordered_map<uint32_t, uint32_t> by_answer_;  ///< the switch's
    uint64_t asking_ = 0;                               ///< of the request that has just come
    bool answered_ = false;
    uint32_t next_qpn_ = 0;
    uint64_t host_frames_ = 0;
    uint64_t resets_ = 0;  ///< beside each queue pair's first
    uint64_t run_ = 1;
    uint64_t cleared_at_ = 0;  ///< WRITEs by then
};

}  // namespace polysome::system
