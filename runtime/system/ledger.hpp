/// The fate of every packet. Each one that arrived has exactly one at the end: it left, or the NF dropped it, or the NF
/// holds it, or it is lost, and then with a cause.
///
/// The ledger sees what the links, the servers and the NF tell of marked frames. What the switch does inside it does
/// not see: a packet that came to the switch and of which nothing came out again is lost there, at a named step; the
/// switch's own counters say why (DESIGN 6, rule 10).
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "system/frame.hpp"
#include "system/records.hpp"

namespace polysome::system {

/// How far the packet has come; steps of a packet that is repeated count as far as its furthest.
enum class Step : uint8_t {
    arriving,    ///< on the way to the switch
    at_switch,   ///< the switch has it
    to_nf,       ///< its fields, or all of it, are on the way to the NF
    at_nf,       ///< in the NF's receive queue
    decided,     ///< the NF has it: from here on it is held
    answered,    ///< the NF's answer is on the way
    back,        ///< the switch has the answer
    reading,     ///< the READ is on the way to the server
    at_server,   ///< the server has the READ
    responding,  ///< the response is on the way
    merging,     ///< the switch has the response
    leaving,     ///< on the way out
};

/// A number for each cause of loss.
using Cause = uint16_t;
inline constexpr Cause no_cause = 0;

enum class Fate : uint8_t { left, dropped, held, lost };

class Ledger {
  public:
    Ledger() {
        cause("");
        not_sent_on_ = cause("switch: a packet went nowhere");
        not_acted_on_ = cause("switch: the NF's answer went nowhere");
        never_written_ = cause("switch: the packet was never written");
        not_merged_ = cause("switch: the response was not merged");
        no_response_ = cause("server: no response");
        on_the_way_ = cause("on the way at the end");
    }

    /// The number of a cause, by its name.
    Cause cause(std::string_view name) {
        const auto found = std::find(causes_.begin(), causes_.end(), name);
        if (found != causes_.end()) return static_cast<Cause>(found - causes_.begin());
        if (causes_.size() > 0xffff) throw std::length_error("too many causes of loss");
        causes_.emplace_back(name);
        return static_cast<Cause>(causes_.size() - 1);
    }
    const std::string& name(Cause cause) const { return causes_.at(cause); }
    size_t causes() const { return causes_.size(); }

    // ---- what happens

    uint64_t arrived() {
        packets_.emplace_back();
        return packets_.size() - 1;
    }
    /// The NF is about to decide about the packet (all ones: about a frame without one); the number of the decision.
    uint64_t decides(uint64_t packet) {
        decisions_.push_back({packet, 0});
        if (packet != no_number) reached(Mark::of(Mark::packet, packet), Step::decided);
        return decisions_.size() - 1;
    }
    /// The NF's answer to a decision, or a packet that it made: how long the packet is that leaves.
    void sends(uint64_t mark, uint16_t length) {
        const uint64_t number = Mark::number(mark);
        if (Mark::kind(mark) == Mark::decision) {
            decisions_[number].length = length;
        } else {
            made_.resize(number + 1);
            made_[number] = length;
        }
    }
    void dropped(uint64_t decision) {
        if (Packet* packet = of(Mark::of(Mark::decision, decision))) packet->dropped = true;
    }
    void reached(uint64_t mark, Step step) {
        if (Packet* packet = of(mark)) packet->step = std::max(packet->step, step);
    }
    void written(uint64_t mark) {
        if (Packet* packet = of(mark)) packet->written = true;
    }
    void left(uint64_t mark) {
        if (Packet* packet = of(mark)) ++packet->copies;
    }
    /// A frame of the packet did not get where it should; what happens first is taken for the cause if it is lost.
    void incident(uint64_t mark, Cause cause) {
        if (Packet* packet = of(mark); packet != nullptr && packet->cause == no_cause) packet->cause = cause;
    }

    // ---- what has happened

    size_t packets() const { return packets_.size(); }
    size_t decisions() const { return decisions_.size(); }
    /// The packet that a mark is about; all ones if none.
    uint64_t packet_of(uint64_t mark) const {
        switch (Mark::kind(mark)) {
            case Mark::packet:
                return Mark::number(mark);
            case Mark::decision:
                return decisions_[Mark::number(mark)].packet;
            default:
                return no_number;
        }
    }
    /// How long the packet is that leaves with the mark, as the NF's answer said; `size`, the frame's, if none did.
    size_t length_of(uint64_t mark, size_t size) const {
        switch (Mark::kind(mark)) {
            case Mark::decision:
                return std::min<size_t>(size, decisions_[Mark::number(mark)].length);
            case Mark::emission:
                return std::min<size_t>(size, made_[Mark::number(mark)]);
            default:
                return size;
        }
    }
    uint32_t copies(uint64_t packet) const { return packets_[packet].copies; }
    Fate fate(uint64_t packet) const {
        const Packet& p = packets_[packet];
        if (p.copies != 0) return Fate::left;
        if (p.dropped) return Fate::dropped;
        return p.step == Step::decided ? Fate::held : Fate::lost;
    }
    /// Why a packet is lost: the first thing that went wrong with it, or the step in the switch that it did not pass.
    Cause cause_of(uint64_t packet) const {
        const Packet& p = packets_[packet];
        if (p.cause != no_cause) return p.cause;
        switch (p.step) {
            case Step::at_switch:
                return not_sent_on_;
            case Step::back:
                return not_acted_on_;
            case Step::at_server:
                return no_response_;
            case Step::merging:
                return p.written ? not_merged_ : never_written_;
            default:
                return on_the_way_;
        }
    }

  private:
    struct Decision {
        uint64_t packet;
        uint16_t length;  ///< of what the NF sends
    };
    struct Packet {
        uint32_t copies = 0;
        Cause cause = no_cause;
        Step step = Step::arriving;
        bool dropped = false;
        bool written = false;
    };

    Packet* of(uint64_t mark) {
        const uint64_t packet = packet_of(mark);
        return packet == no_number ? nullptr : &packets_[packet];
    }

    std::vector<Packet> packets_;
    std::vector<Decision> decisions_;
    std::vector<uint16_t> made_;  ///< lengths of the packets that the NF made
    std::vector<std::string> causes_;
    Cause not_sent_on_, not_acted_on_, never_written_, not_merged_, no_response_, on_the_way_;
};

}  // namespace polysome::system
