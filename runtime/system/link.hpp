/// A wire in one direction: rate, delay, a queue that drops at its tail, and faults, each with chance of its own.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "system/frame.hpp"
#include "system/ledger.hpp"
#include "system/ring.hpp"
#include "system/time.hpp"

namespace polysome::system {

struct LinkConfig {
    uint64_t rate = 0;                      ///< bit/s; 0: frames take no time on the wire
    Time delay = 0;                         ///< ns
    uint64_t queue = uint64_t{512} * 1024;  ///< bytes that wait for the wire beside the frame on it
};

/// What goes wrong on a link, in probabilities of a frame.
struct Faults {
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    Time hold = 0;             ///< a frame that others overtake is held back by 1 to this many ns
    double corrupt = 0;        ///< some of its bits flip
    double past_checksum = 0;  ///< of those: the share that flips after the receiver's MAC has looked at the checksum
    std::vector<Interval> down{};
};

/// Everyone's: the bytes of frames, the fates of packets, the records.
struct Commons {
    BufferPool pool;
    Ledger ledger;
    Recorder recorder;
    rdma::Mac switch_mac{};
    bool capture = false;
};

/// sent + duplicated = delivered + lost + fcs errors + down + on the way; what the queue refused was never sent.
class Link {
  public:
    struct Count {
        uint64_t frames = 0;
        uint64_t bytes = 0;
    };
    struct Counters {
        std::array<Count, kinds> sent{};
        Count delivered;
        uint64_t queue_full = 0, lost = 0, down = 0, fcs_errors = 0;
        uint64_t duplicated = 0, reordered = 0, flipped = 0;

        uint64_t all_sent() const {
            uint64_t sum = 0;
            for (const Count& count : sent) sum += count.frames;
            return sum;
        }
    };

    /// `number`: the link's, in records. Names of links are unique; a fault's chance follows from seed and name.
    Link(Commons& commons, std::string name, uint16_t number, Role role, const LinkConfig& config, const Faults& faults,
         uint64_t seed)
        : commons_(commons),
          name_(std::move(name)),
          number_(number),
          role_(role),
          config_(config),
          faults_(faults),
          wire_(config.rate),
          loss_(faults.loss, seed, name_ + " loss"),
          duplicate_(faults.duplicate, seed, name_ + " duplicate"),
          reorder_(faults.reorder, seed, name_ + " reorder"),
          corrupt_(faults.corrupt, seed, name_ + " corrupt"),
          past_(faults.past_checksum, seed, name_ + " past checksum"),
          queue_full_(commons.ledger.cause(name_ + ": queue full")),
          lost_(commons.ledger.cause(name_ + ": lost")),
          down_(commons.ledger.cause(name_ + ": down")),
          fcs_(commons.ledger.cause(name_ + ": fcs error")) {}
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// A host puts a frame into the queue at `now`, which never runs back.
    void send(std::span<const uint8_t> bytes, uint64_t mark, Time now) {
        if (wire_.waiting(now) > config_.queue) {
            ++counters_.queue_full;
            return incident(kind_of(bytes, role_, commons_.switch_mac), mark, queue_full_);
        }
        put(bytes, mark, wire_.put(now, bytes.size()));
    }

    /// The last bit of a frame leaves the sender, which has a queue of its own, at `left`, which never runs back.
    void put(std::span<const uint8_t> bytes, uint64_t mark, Time left) {
        const Kind kind = kind_of(bytes, role_, commons_.switch_mac);
        ++counters_.sent[static_cast<size_t>(kind)].frames;
        counters_.sent[static_cast<size_t>(kind)].bytes += bytes.size();
        if (commons_.capture) commons_.recorder.write(Record::frame, number_, left, no_number, no_number, bytes);
        tell(kind, mark);
        travel(kind, bytes, mark, left);
        if (!duplicate_.happens()) return;
        ++counters_.duplicated;
        travel(kind, bytes, mark, left);
    }

    /// When the next frame comes out; `never` if none is on the way.
    Time next() const {
        const Time first = flying_.empty() ? never : flying_.front().at;
        return held_.empty() ? first : std::min(first, held_.front().at);
    }

    /// The frame that comes out at next(); the caller's from then on.
    Frame deliver() {
        const bool straight = !flying_.empty() && (held_.empty() || flying_.front().at <= held_.front().at);
        Frame frame;
        if (straight) {
            frame = flying_.pop().frame;
        } else {
            std::pop_heap(held_.begin(), held_.end(), later);
            frame = held_.back().frame;
            held_.pop_back();
        }
        ++counters_.delivered.frames;
        counters_.delivered.bytes += frame.size;
        return frame;
    }

    const std::string& name() const { return name_; }
    uint16_t number() const { return number_; }
    Role role() const { return role_; }
    const Counters& counters() const { return counters_; }
    size_t on_the_way() const { return flying_.size() + held_.size(); }

  private:
    struct Flying {
        Time at = 0;
        uint64_t order = 0;
        Frame frame;
    };

    static bool later(const Flying& a, const Flying& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }

    void tell(Kind kind, uint64_t mark) {
        switch (kind) {
            case Kind::packet:
                break;  // the system knows which way it goes
            case Kind::write:
                return commons_.ledger.written(mark);
            case Kind::read:
                return commons_.ledger.reached(mark, Step::reading);
            case Kind::response:
                return commons_.ledger.reached(mark, Step::responding);
            case Kind::fields:
                return commons_.ledger.reached(mark, Step::to_nf);
            case Kind::whole:
                return commons_.ledger.reached(mark, role_ == Role::to_nf ? Step::to_nf : Step::answered);
            case Kind::edits:
                return commons_.ledger.reached(mark, Step::answered);
            default:
                break;
        }
    }

    /// An answer to a WRITE that gets lost costs no packet.
    void incident(Kind kind, uint64_t mark, Cause cause) {
        if (kind != Kind::ack && kind != Kind::nak) commons_.ledger.incident(mark, cause);
    }

    void travel(Kind kind, std::span<const uint8_t> bytes, uint64_t mark, Time left) {
        for (const Interval& interval : faults_.down) {
            if (!interval.has(left)) continue;
            ++counters_.down;
            return incident(kind, mark, down_);
        }
        if (loss_.happens()) {
            ++counters_.lost;
            return incident(kind, mark, lost_);
        }
        const bool corrupt = corrupt_.happens();
        if (corrupt && !past_.happens()) {
            ++counters_.fcs_errors;
            return incident(kind, mark, fcs_);
        }
        Frame frame = copied(commons_.pool, bytes, kind, mark);
        if (corrupt) flip(frame);
        if (!reorder_.happens()) return flying_.push({left + config_.delay, 0, frame});
        ++counters_.reordered;
        const Time held = faults_.hold == 0 ? 0 : 1 + reorder_.random().below(faults_.hold);
        held_.push_back({left + config_.delay + held, order_++, frame});
        std::push_heap(held_.begin(), held_.end(), later);
    }

    /// One to three bits; not the same one twice.
    void flip(Frame& frame) {
        if (frame.size == 0) return;
        ++counters_.flipped;
        frame.flipped = true;
        const uint64_t bits = uint64_t{frame.size} * 8, first = corrupt_.random().below(bits);
        const uint64_t count = 1 + corrupt_.random().below(3);
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t bit = (first + i * (1 + bits / 5)) % bits;
            frame.data[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        }
    }

    Commons& commons_;
    std::string name_;
    uint16_t number_;
    Role role_;
    LinkConfig config_;
    Faults faults_;
    Wire wire_;
    Chance loss_, duplicate_, reorder_, corrupt_, past_;
    Cause queue_full_, lost_, down_, fcs_;
    Counters counters_;
    Ring<Flying> flying_;       ///< in the order they come out
    std::vector<Flying> held_;  ///< a heap: those that others overtake
    uint64_t order_ = 0;
};

}  // namespace polysome::system
