/// What a responder does with a request whose queue pair is found and ready: judges its number, form and rights (IBTA
/// volume 1, section 9.7), executes it, and says what is to be answered.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "rdma/counters.hpp"
#include "rdma/memory.hpp"
#include "rdma/queue_pair.hpp"

namespace polysome::rdma {

struct Config {
    Mac mac{};
    uint32_t ip = 0;
    uint32_t mtu = 4096;  ///< of the path, bytes of payload: 256, 512, 1024, 2048 or 4096
    uint64_t region_size = 0;
    uint32_t rkey = 0;
    uint64_t read_time = 0;   ///< ns from a READ to its responses, without its bytes; those of several overlap
    uint64_t read_rate = 0;   ///< bytes per second of a queue pair's READs, one after the other; 0: no limit
    uint32_t max_reads = 16;  ///< outstanding per queue pair (max_dest_rd_atomic); one more is an invalid request
};

/// The region and the rules for it. Keeps a reference to `config` and `counters`.
class Execution {
  public:
    Execution(const Config& config, Counters& counters)
        : config_(config), counters_(counters), region_(config.region_size, config.rkey) {}

    const Region& region() const { return region_; }
    void forget() { region_.forget(); }

    /// Executes the request `frame` of a queue pair that is ready, and moves its numbers; the reply, if there is one.
    /// The reply's data is in the region: to be sent or copied before the next request is executed.
    std::optional<Reply> judged(QueuePair& qp, const Frame& frame, uint64_t now) {
        switch (arrival(frame.bth.psn, qp.expected_psn)) {
            case Arrival::future:
                return gap(qp, now);
            case Arrival::duplicate:
                return repeated(qp, frame, now);
            case Arrival::expected:
                break;
        }
        qp.gap_told = false;
        if (qp.failing) return fatal(qp, Nak::remote_operational_error, now);
        if (is_write(frame.bth.opcode)) return write(qp, frame, now);
        if (frame.bth.opcode == Opcode::read_request) return read(qp, frame, now);
        return fatal(qp, Nak::invalid_request, now);
    }

  private:
    /// An answer without data goes after those that wait.
    Reply short_reply(const QueuePair& qp, uint8_t syndrome, uint32_t psn, uint64_t now) const {
        const uint64_t due = qp.waiting.empty() ? now : qp.waiting.back().due;
        return {.due = due, .syndrome = syndrome, .psn = psn & PSN_MASK, .msn = qp.msn};
    }

    Reply refusal(QueuePair& qp, Nak code, uint64_t now) {
        ++counters_.refused;
        return short_reply(qp, nak_syndrome(code), qp.expected_psn, now);
    }

    /// Answers that wait still leave, the NAK after them; nothing new is executed.
    Reply fatal(QueuePair& qp, Nak code, uint64_t now) {
        qp.state = State::error;
        return refusal(qp, code, now);
    }

    /// One NAK for each gap, however many requests come beyond it.
    std::optional<Reply> gap(QueuePair& qp, uint64_t now) {
        if (std::exchange(qp.gap_told, true)) {
            counters_.drop(Drop::out_of_sequence);
            return {};
        }
        return refusal(qp, Nak::sequence_error, now);
    }

    std::optional<Reply> write(QueuePair& qp, const Frame& frame, uint64_t now) {
        const Opcode opcode = frame.bth.opcode;
        if (starts(opcode) == qp.writing) return fatal(qp, Nak::invalid_request, now);
        const uint64_t remain = starts(opcode) ? frame.reth.length : qp.remain;
        const uint64_t address = starts(opcode) ? frame.reth.address : qp.address;
        const size_t bytes = frame.payload.size();
        if (remain > LONGEST_MESSAGE || !write_length_fits(ends(opcode), bytes, remain, config_.mtu)) {
            return fatal(qp, Nak::invalid_request, now);
        }
        if (starts(opcode) && !region_.allows(frame.reth.rkey, address, remain)) {
            return fatal(qp, Nak::remote_access_error, now);
        }
        region_.write(address, frame.payload);
        ++counters_.requests;
        counters_.written_bytes += bytes;
        qp.address = address + bytes;
        qp.remain = remain - bytes;
        qp.writing = !ends(opcode);
        qp.expect(qp.expected_psn + 1);
        if (ends(opcode)) {
            qp.complete();
            ++counters_.writes;
        }
        if (!frame.bth.ack_request) return {};
        return short_reply(qp, ACK_SYNDROME, frame.bth.psn, now);
    }

    std::optional<Reply> read(QueuePair& qp, const Frame& frame, uint64_t now) {
        const Reth& reth = frame.reth;
        const bool well_formed = !qp.writing && frame.payload.empty() && reth.length <= LONGEST_MESSAGE;
        if (!well_formed || qp.reads >= config_.max_reads) return fatal(qp, Nak::invalid_request, now);
        if (!region_.allows(reth.rkey, reth.address, reth.length)) return fatal(qp, Nak::remote_access_error, now);
        ++counters_.requests;
        ++counters_.reads;
        qp.expect(qp.expected_psn + read_packets(reth.length, config_.mtu));
        qp.complete();
        return fetched(qp, frame, now);
    }

    /// The responses of a READ, due after the queue pair's earlier ones and the time that it takes. A NIC fetches for
    /// one READ while it waits for what it fetches for others.
    Reply fetched(QueuePair& qp, const Frame& frame, uint64_t now) {
        const uint64_t length = frame.reth.length;
        const uint64_t transfer = config_.read_rate == 0 ? 0 : length * 1'000'000'000 / config_.read_rate;
        qp.free_at = std::max(qp.free_at, now) + transfer;
        ++qp.reads;
        counters_.read_bytes += length;
        return {.due = qp.free_at + config_.read_time,
                .is_read = true,
                .psn = frame.bth.psn,
                .msn = qp.msn,
                .data = region_.at(frame.reth.address, length)};
    }

    /// A WRITE is not executed again: an ACK of all that was (C9-105). A READ is, if all its responses' PSNs
    /// were used before and it is otherwise as it should be.
    std::optional<Reply> repeated(QueuePair& qp, const Frame& frame, uint64_t now) {
        if (is_write(frame.bth.opcode)) {
            ++counters_.repeated;
            return short_reply(qp, ACK_SYNDROME, qp.expected_psn - 1, now);
        }
        const Reth& reth = frame.reth;
        const uint32_t used = (qp.expected_psn - frame.bth.psn) & PSN_MASK;
        if (frame.bth.opcode != Opcode::read_request || !frame.payload.empty() || reth.length > LONGEST_MESSAGE ||
            read_packets(reth.length, config_.mtu) > used || qp.reads >= config_.max_reads ||
            !region_.allows(reth.rkey, reth.address, reth.length)) {
            counters_.drop(Drop::bad_duplicate);
            return {};
        }
        ++counters_.repeated;
        return fetched(qp, frame, now);
    }

    const Config& config_;
    Counters& counters_;
    Region region_;
};

}  // namespace polysome::rdma
