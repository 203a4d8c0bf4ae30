/// A server's RDMA NIC in software: the responder of reliable connected queue pairs over RoCEv2 (IBTA volume 1, section
/// 9.7 and annex A17), one WRITE or READ after the other, into and out of one region of memory.
///
/// Times are nanoseconds of the caller's clock, which never runs back. Answers leave through the caller's
/// `emit(std::span<const uint8_t>)`: a frame, valid during the call, in which the responder must not be called. The
/// same calls give the same frames. No receives are posted, so SENDs and immediate data are invalid requests; atomics
/// are not offered. Congestion marks are not answered.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "rdma/execution.hpp"

namespace polysome::rdma {

class Responder {
  public:
    /// Alive, with a region full of ones and no queue pair. std::invalid_argument for an MTU that there is not.
    explicit Responder(const Config& config) : config_(config), execution_(config_, counters_) {
        constexpr std::array<uint32_t, 5> mtus = {256, 512, 1024, 2048, 4096};
        if (std::find(mtus.begin(), mtus.end(), config.mtu) == mtus.end()) {
            throw std::invalid_argument("a path MTU is 256, 512, 1024, 2048 or 4096 bytes");
        }
    }

    /// A new queue pair, ready, that expects `psn`; its index. std::invalid_argument for a number that is no queue
    /// pair's (0, 1 and 2^24 - 1 are reserved) or another's.
    uint32_t add(uint32_t qpn, const Peer& peer, uint32_t psn) {
        const auto index = static_cast<uint32_t>(pairs_.size());
        claim(qpn, index);
        pairs_.push_back({.qpn = qpn, .peer = peer, .expected_psn = psn & PSN_MASK});
        return index;
    }

    /// Makes a queue pair ready again, in whatever state it is: new numbers, MSN 0, what waited is gone, frames for the
    /// old number are dropped. std::invalid_argument as for `add`, its own old number included.
    void reset(uint32_t index, uint32_t qpn, uint32_t psn) {
        QueuePair& qp = pairs_.at(index);
        claim(qpn, index);
        by_qpn_.erase(qp.qpn);
        unschedule(index);
        qp.reset(qpn, psn & PSN_MASK);
    }

    /// The same, and answers go to another queue pair of the peer's from now on.
    void reset(uint32_t index, uint32_t qpn, uint32_t psn, uint32_t peer_qpn) {
        reset(index, qpn, psn);
        pairs_[index].peer.qpn = peer_qpn;
    }

    /// The queue pair's next new request gets a NAK "remote operational error": a NIC that fails.
    void fail(uint32_t index) { pairs_.at(index).failing = true; }

    /// The server dies: it is silent, and what waited is gone.
    void kill() {
        alive_ = false;
        schedule_.clear();
        for (QueuePair& qp : pairs_) {
            qp.waiting.clear();
            qp.reads = 0;
        }
    }

    /// All queue pairs are silent until each is reset, and what waited is gone; memory stays as it is.
    void silence() {
        kill();
        alive_ = true;
        for (QueuePair& qp : pairs_) qp.state = State::reset;
    }

    /// It is back, with memory full of ones and queue pairs that are silent until each is reset. O(region).
    void revive() {
        silence();
        clear();
    }

    /// Memory is full of ones. O(region).
    void clear() { execution_.forget(); }

    /// Emits what is due by `now`, then executes a frame from the link, and emits its answer unless that is due later.
    template <class Emit>
    void receive(std::span<const uint8_t> bytes, uint64_t now, Emit&& emit) {
        advance(now, emit);
        ++counters_.received;
        counters_.received_bytes += bytes.size();
        Frame frame;
        QueuePair* const qp = screened(bytes, frame);
        if (qp == nullptr) return;
        std::optional<Reply> reply = execution_.judged(*qp, frame, now);
        if (!reply) return;
        if (qp->waiting.empty() && reply->due <= now) {
            send(*qp, *reply, emit);
        } else {
            enqueue(*qp, std::move(*reply));
        }
    }

    /// When the next answer is due; NEVER if none waits.
    uint64_t next() const { return schedule_.empty() ? NEVER : schedule_.front().first; }

    /// Emits the answers due by `now`: by time, those of one instant by queue pair.
    template <class Emit>
    void advance(uint64_t now, Emit&& emit) {
        while (!schedule_.empty() && next() <= now) {
            std::pop_heap(schedule_.begin(), schedule_.end(), std::greater<>{});
            const auto [due, index] = schedule_.back();
            schedule_.pop_back();
            QueuePair& qp = pairs_[index];
            while (!qp.waiting.empty() && qp.waiting.front().due == due) {
                send(qp, qp.waiting.front(), emit);
                if (qp.waiting.front().is_read) spare_.push_back(std::move(qp.waiting.front().copy));
                qp.waiting.pop_front();
            }
            if (!qp.waiting.empty()) schedule(qp.waiting.front().due, index);
        }
    }

    Responder(const Responder&) = delete;
    Responder& operator=(const Responder&) = delete;

    bool alive() const { return alive_; }
    const Config& config() const { return config_; }
    const Counters& counters() const { return counters_; }
    const Region& region() const { return execution_.region(); }
    size_t size() const { return pairs_.size(); }
    const QueuePair& pair(uint32_t index) const { return pairs_.at(index); }

  private:
    void claim(uint32_t qpn, uint32_t index) {
        if (qpn < 2 || qpn >= PSN_MASK) {
            throw std::invalid_argument("a queue pair number is 2 to " + std::to_string(PSN_MASK - 1));
        }
        if (!by_qpn_.emplace(qpn, index).second) throw std::invalid_argument("a queue pair number is in use");
    }

    QueuePair* dropped(Drop why) {
        counters_.drop(why);
        return nullptr;
    }

    /// The queue pair that a frame is a request to; none if it is dropped.
    QueuePair* screened(std::span<const uint8_t> bytes, Frame& frame) {
        if (!alive_) return dropped(Drop::dead);
        if (const Flaw flaw = parse(bytes, frame); flaw != Flaw::none) return dropped(drop_of(flaw));
        if (frame.destination != config_.mac) return dropped(Drop::wrong_mac);
        if (frame.destination_ip != config_.ip) return dropped(Drop::wrong_ip);
        if (!icrc_holds(datagram(bytes))) return dropped(Drop::bad_icrc);
        const auto found = by_qpn_.find(frame.bth.qpn);
        if (found == by_qpn_.end()) return dropped(Drop::unknown_qpn);
        QueuePair& qp = pairs_[found->second];
        if (frame.source_ip != qp.peer.ip) return dropped(Drop::wrong_source);
        // The upper bit is membership, and a full member talks to a limited one.
        if (((frame.bth.pkey ^ DEFAULT_PKEY) & 0x7fff) != 0) return dropped(Drop::bad_pkey);
        if (!is_reliable_connected(frame.bth.opcode) || is_response(frame.bth.opcode)) return dropped(Drop::bad_opcode);
        return qp.state == State::ready ? &qp : dropped(Drop::not_ready);
    }

    void schedule(uint64_t due, uint32_t index) {
        schedule_.emplace_back(due, index);
        std::push_heap(schedule_.begin(), schedule_.end(), std::greater<>{});
    }

    void unschedule(uint32_t index) {
        std::erase_if(schedule_, [index](const auto& entry) { return entry.second == index; });
        std::make_heap(schedule_.begin(), schedule_.end(), std::greater<>{});
    }

    /// Keeps a reply until it is due. A READ has been executed: later WRITEs do not change what it has read.
    void enqueue(QueuePair& qp, Reply&& reply) {
        if (reply.is_read) {
            if (!spare_.empty()) {
                reply.copy = std::move(spare_.back());
                spare_.pop_back();
            }
            reply.copy.assign(reply.data.begin(), reply.data.end());
            reply.data = reply.copy;
        }
        if (qp.waiting.empty()) schedule(reply.due, static_cast<uint32_t>(&qp - pairs_.data()));
        qp.waiting.push_back(std::move(reply));
    }

    template <class Emit>
    void send(QueuePair& qp, const Reply& reply, Emit&& emit) {
        if (reply.is_read) return send_responses(qp, reply, emit);
        const bool nak = answer_of(reply.syndrome) == Answer::nak;
        ++(nak ? counters_.naks[value_of(reply.syndrome)] : counters_.acks);
        send_one(qp, Opcode::acknowledge, reply, 0, {}, emit);
    }

    template <class Emit>
    void send_responses(QueuePair& qp, const Reply& reply, Emit&& emit) {
        const uint32_t packets = read_packets(static_cast<uint32_t>(reply.data.size()), config_.mtu);
        --qp.reads;
        for (uint32_t i = 0; i < packets; ++i) {
            const size_t at = size_t{i} * config_.mtu, bytes = std::min<size_t>(config_.mtu, reply.data.size() - at);
            ++counters_.responses;
            send_one(qp, response_opcode(i, packets), reply, i, reply.data.subspan(at, bytes), emit);
        }
    }

    /// Frame `i` of a reply.
    template <class Emit>
    void send_one(const QueuePair& qp, Opcode opcode, const Reply& reply, uint32_t i, std::span<const uint8_t> payload,
                  Emit&& emit) {
        const Frame frame{.destination = qp.peer.mac,
                          .source = config_.mac,
                          .destination_ip = qp.peer.ip,
                          .source_ip = config_.ip,
                          .source_port = qp.source_port(),
                          .bth = {.opcode = opcode, .qpn = qp.peer.qpn, .psn = (reply.psn + i) & PSN_MASK},
                          .reth = {},
                          .aeth = {.syndrome = reply.syndrome, .msn = reply.msn},
                          .payload = payload};
        const size_t size = build(frame, out_);
        ++counters_.sent;
        counters_.sent_bytes += size;
        emit(std::span<const uint8_t>(out_.data(), size));
    }

    Config config_;
    Counters counters_;
    Execution execution_;
    bool alive_ = true;
    std::vector<QueuePair> pairs_;
    std::unordered_map<uint32_t, uint32_t> by_qpn_;
    std::vector<std::pair<uint64_t, uint32_t>> schedule_;  ///< a heap: {due, index} of each queue pair's first reply
    std::vector<std::vector<uint8_t>> spare_;              ///< storage for replies that wait
    std::array<uint8_t, EXTENSION_AT + AETH_SIZE + 4096 + ICRC_SIZE> out_;
};

}  // namespace polysome::rdma
