/// An NF behind a switch that keeps the packets (the split deployment): frames with the fields of a packet come in,
/// frames with its edits go back.
///
/// Each frame: Ethernet of EtherType 0x88B5, then a tag of 12 bytes, big-endian
///   version:4 flags:4 | class:8 | 0:2 seq:30 | qp:16 | length:16 | port:16
/// then, by the flags:
///   fields frame (0)       the fields of the class, as analysis/layout.py packs them; `port`: the ingress port
///   edits frame (0)        the answer: the same tag, `port` the verdict (0x8000 | ingress port for a port set), the
///   edits whole frame (WHOLE)    the whole packet; the answer has the packet as it leaves own frame (OWN)        a
///   packet the NF made
/// and zeros up to 60 bytes. A dropped packet has no answer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "nf/packet.hpp"

namespace polysome {

struct Tag {
    static constexpr uint16_t ether_type = 0x88b5;
    static constexpr size_t link = 14;
    static constexpr size_t head = link + 12;  ///< bytes before fields, edits or packet
    static constexpr size_t smallest = 60;     ///< of an Ethernet frame, without its checksum
    static constexpr uint8_t version = 1;
    static constexpr uint8_t whole = 1;
    static constexpr uint8_t own = 2;
    static constexpr uint16_t port_set = 0x8000;

    /// Is this a frame with fields or a whole packet, of our version? Its class is not looked at.
    static bool accepts(const uint8_t* frame, size_t size) {
        return size >= head && load<uint16_t>(frame + 12) == ether_type && frame[link] >> 4 == version &&
               (frame[link] & ~(version << 4) & ~whole & 0xf) == 0;
    }
    static bool is_whole(const uint8_t* frame) { return (frame[link] & whole) != 0; }
    static uint8_t number(const uint8_t* frame) { return frame[link + 1]; }
    static uint16_t length(const uint8_t* frame) { return load<uint16_t>(frame + link + 8); }
    static uint16_t port(const uint8_t* frame) { return load<uint16_t>(frame + link + 10); }
    static void set_port(uint8_t* frame, uint16_t port) {
        frame[link + 10] = static_cast<uint8_t>(port >> 8);
        frame[link + 11] = static_cast<uint8_t>(port);
    }
};

/// `Nf` with frames as above for packets: what Machine takes for an NF. Frames are those that Tag::accepts, and arrive
/// at the port that their tag says. One copy leaves for a port set; the schedule must hold nothing, because a frame's
/// size is not the packet's.
template <class Nf>
class FieldsNf : public Nf {
  public:
    static_assert(Nf::Policy::immediate, "packets of a schedule that holds some travel whole");

    static constexpr uint16_t malformed = Nf::reasons.size();
    static constexpr auto reasons = [] {
        std::array<std::string_view, Nf::reasons.size() + 1> all{};
        std::copy(Nf::reasons.begin(), Nf::reasons.end(), all.begin());
        all[malformed] = "malformed frame";
        return all;
    }();

    struct Packet : Nf::Packet {
        uint32_t frame_size;
        uint16_t answer;  ///< the port of the answer's tag
        uint8_t number;
        bool whole;
        bool known;
    };

    using Nf::Nf;

    void parse(const uint8_t* frame, uint32_t size, uint16_t port, Packet& p) const {
        p.frame_size = size;
        p.number = Tag::number(frame);
        p.whole = Tag::is_whole(frame);
        const std::span rest(frame + Tag::head, size - Tag::head);
        p.known = true;
        if (p.whole) {
            Nf::parse(rest.data(), static_cast<uint32_t>(rest.size()), port, p);
        } else {
            p.known = Nf::parse_fields(p.number, rest, Tag::length(frame), port, p);
        }
    }
    void prepare(Packet& p) const {
        if (!p.known) return;
        if (p.whole) {
            Nf::prepare(p);
        } else {
            Nf::prepare_frame(p);
        }
    }
    void prefetch_entries(const Packet& p) const {
        if (p.known) Nf::prefetch_entries(p);
    }
    Verdict decide(Packet& p) {
        if (!p.known) return drop(malformed);
        const Verdict verdict = p.whole ? Nf::decide(p) : Nf::decide_frame(p);
        if (verdict.reason != 0 || verdict.ports == 0) return verdict;
        const auto first = static_cast<uint16_t>(std::countr_zero(verdict.ports));
        p.answer = std::has_single_bit(verdict.ports) ? first : Tag::port_set | p.headers.in_port;
        return send(first);
    }
    /// The answer, in place if there is room.
    std::span<const uint8_t> apply(Packet& p, uint8_t* frame, std::vector<uint8_t>& scratch) {
        if (p.whole) {
            const std::span<const uint8_t> rest = Nf::apply(p, frame + Tag::head, scratch);
            const size_t end = Tag::head + rest.size(), size = std::max(Tag::smallest, end);
            uint8_t* const out = room(frame, p.frame_size, size);
            if (out + Tag::head != rest.data()) std::memcpy(out + Tag::head, rest.data(), rest.size());
            std::fill(out + end, out + size, uint8_t{0});
            return sealed(out, size, p.answer);
        }
        // Edits and zeros, of one size for all classes, so that these are a few stores.
        constexpr size_t most = std::max(Tag::smallest, Tag::head + Nf::most_edits);
        std::array<uint8_t, most - Tag::head> rest{};
        const size_t size = std::max(Tag::smallest, Tag::head + Nf::write_edits(p, rest.data()));
        uint8_t* const out = room(frame, p.frame_size, most);
        std::memcpy(out + Tag::head, rest.data(), rest.size());
        return sealed(out, size, p.answer);
    }
    /// A packet the NF made, as an own frame that leaves at `port`; valid until the next call.
    std::span<const uint8_t> own(uint16_t port, std::span<const uint8_t> packet) {
        answer_.assign(std::max(Tag::smallest, Tag::head + packet.size()), 0);
        answer_[12] = Tag::ether_type >> 8;
        answer_[13] = Tag::ether_type & 0xff;
        answer_[Tag::link] = Tag::version << 4 | Tag::own;
        Tag::set_port(answer_.data(), port);
        std::copy(packet.begin(), packet.end(), answer_.begin() + Tag::head);
        return answer_;
    }

  private:
    /// Where a frame of `size` bytes fits: `frame`, or elsewhere with its head.
    uint8_t* room(uint8_t* frame, uint32_t frame_size, size_t size) {
        if (size <= frame_size) return frame;
        answer_.resize(size);
        std::memcpy(answer_.data(), frame, Tag::head);
        return answer_.data();
    }
    /// Sends a frame back to where it came from.
    static std::span<const uint8_t> sealed(uint8_t* out, size_t size, uint16_t port) {
        std::swap_ranges(out, out + 6, out + 6);
        Tag::set_port(out, port);
        return {out, size};
    }

    std::vector<uint8_t> answer_;
};

}  // namespace polysome
