/// An NF behind a switch that keeps the packets (the split deployment): frames with the fields of a packet come in,
/// frames with its edits go back.
///
/// Each frame: Ethernet, then a tag (protocol/protocol.hpp), then, by its flags:
///   - fields frame (0): the fields of the class, as analysis/layout.py packs them; `port` is the logical port it came
///     in at, `length` the packet's length, in bytes, as its network header claims it;
///   - its answer, the edits frame (0): the same tag but for `port`, and all edits of the class;
///   - whole frame (WHOLE): the whole packet; its answer: the same tag but for `port` and `length`, which is the
///     packet's as it leaves, and that packet;
///   - own frame (OWN): a packet that the NF made, of `length` bytes;
/// and zeros up to 60 bytes. So every answer says how long what leaves is. `port` of an answer is the verdict: the
/// logical port, or for several Tag::port_set | their mask (bit i: port i). Answers go back to the Ethernet address
/// that the frame came from. A dropped packet has none.
///
/// Who drives Machine<FieldsNf<Nf>, Sink>, or Sharded, gives it only frames that Tag::accepts, as arrivals at the port
/// of their tags: `arrive` with the times at which they are decided, `advance` when time goes on without one, so that
/// what is held leaves, timers fire and config changes happen as with packets. The sink is called as with packets, but:
///   - left(port, time, answer, order): an answer, once for each packet that leaves; `port` is that of its tag. If the
///     schedule holds packets, it is one port: each copy leaves by itself, and the packets then came whole;
///   - emitted(port, time, frame, cause): the own frame, addressed as the answer to the last frame decided;
///   - decided(order, now, packet): packet.frame() is the frame, as it came, with its tag;
///   - dropped(order, reason): also frames whose class is not known, or that are too short for its fields: `malformed`.
/// A frame of a port without handler is dropped and not `decided`, but as a first frame it starts the timers. Probes of
/// the switch's controller (Tag::is_probe) are none of Machine's: `probed` answers them.
///
/// The schedule sees packets: classes and values are computed from fields, a size is the packet's length as it leaves.
/// A packet of a fields frame is never a "short frame": only the switch knows how long the packet really is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "nf/packet.hpp"
#include "nf/types.hpp"
#include "protocol/protocol.hpp"

namespace polysome {

/// A frame's tag, at its place behind Ethernet. Frames have `head` bytes or more.
struct Tag {
    using Layout = protocol::Tag;

    static constexpr uint16_t ether_type = protocol::frames::ether_type;
    static constexpr size_t link = protocol::Ethernet::size;
    static constexpr size_t head = link + protocol::Tag::size;  ///< bytes before fields, edits or packet
    static constexpr size_t smallest = protocol::frames::smallest;
    static constexpr uint8_t split = protocol::flags::split;
    static constexpr uint8_t whole = protocol::flags::whole;
    static constexpr uint8_t own = protocol::flags::own;
    static constexpr uint16_t port_set = protocol::verdicts::set;
    static constexpr size_t most_ports = protocol::verdicts::ports;
    static constexpr uint16_t controller =
        protocol::verdicts::controller;  ///< as port and as verdict: the switch's controller

    /// Has it a tag of our version? Of a frame of any size.
    static bool is_ours(const uint8_t* frame, size_t size) {
        return size >= head && protocol::Ethernet::ether_type::read(frame) == ether_type &&
               Layout::version::read(frame + link) == protocol::frames::version;
    }
    /// Is this a frame with fields or a whole packet, of our version? Its class is not looked at.
    static bool accepts(const uint8_t* frame, size_t size) {
        return is_ours(frame, size) && (flags(frame) == split || flags(frame) == whole);
    }
    static uint8_t flags(const uint8_t* frame) { return Layout::flags::read(frame + link); }
    static bool is_whole(const uint8_t* frame) { return flags(frame) == whole; }
    /// Is it a probe of the switch's controller (runtime/PROTOCOL.md, rule 14)? Of a frame that Tag::accepts.
    static bool is_probe(const uint8_t* frame) { return port(frame) == controller; }
    static uint8_t number(const uint8_t* frame) { return Layout::parse_class::read(frame + link); }
    static uint32_t seq(const uint8_t* frame) { return Layout::seq::read(frame + link); }
    static uint16_t qp(const uint8_t* frame) { return Layout::queue_pair::read(frame + link); }
    static uint16_t length(const uint8_t* frame) { return Layout::length::read(frame + link); }
    static uint16_t port(const uint8_t* frame) { return Layout::port::read(frame + link); }
    static void set_port(uint8_t* frame, uint16_t port) { Layout::port::write(frame + link, port); }
    static void set_length(uint8_t* frame, size_t length) {
        Layout::length::write(frame + link, static_cast<uint16_t>(length));
    }
    /// Writes EtherType and tag, of our version; what is not given is 0.
    static void begin(uint8_t* frame, uint8_t flags, uint8_t number = 0) {
        protocol::Ethernet::ether_type::write(frame, ether_type);
        std::memset(frame + link, 0, protocol::Tag::size);
        Layout::version::write(frame + link, protocol::frames::version);
        Layout::flags::write(frame + link, flags);
        Layout::parse_class::write(frame + link, number);
    }
    /// The packet in the answer to a whole frame, or in an own frame, as FieldsNf makes them: without the zeros behind.
    static std::span<const uint8_t> packet(std::span<const uint8_t> answer) {
        return answer.subspan(head, length(answer.data()));
    }
};

/// `Nf` with frames as above for packets: what Machine takes for an NF.
template <class Nf>
class FieldsNf : public Nf {
  public:
    static_assert(Nf::port_names.size() <= Tag::most_ports, "an NF behind a switch has at most 15 ports");

    static constexpr bool framed = true;
    /// Do its packets have shard keys (sharded.hpp)?
    static constexpr bool spreads =
        requires(const Nf& nf, const typename Nf::Packet& packet) { nf.core(packet, uint32_t{1}); };
    static constexpr uint16_t malformed = Nf::reasons.size();
    static constexpr auto reasons = [] {
        std::array<std::string_view, Nf::reasons.size() + 1> all{};
        std::copy(Nf::reasons.begin(), Nf::reasons.end(), all.begin());
        all[malformed] = "malformed frame";
        return all;
    }();

    /// What is known of the frame; in front, as all packets need it.
    struct OfFrame {
        uint32_t frame_size;
        uint32_t leaving;  ///< bytes of the packet as it leaves, if a schedule asks
        uint16_t answer;   ///< the port of the answer's tag
        bool whole;
        bool known;
    };
    struct Packet : OfFrame, Nf::Packet {
        /// The frame, which is as it came until the packet is applied.
        const uint8_t* frame() const { return this->headers.data - Tag::head; }
    };

    using Nf::Nf;

    [[gnu::always_inline]] void parse(const uint8_t* frame, uint32_t size, uint16_t port, Packet& p) const {
        p.frame_size = size;
        const std::span rest(frame + Tag::head, size - Tag::head);
        p.known = true;
        p.whole = Tag::is_whole(frame);
        if (p.whole) [[unlikely]]
            return parse_whole(rest, port, p);
        if (!Nf::parse_fields(Tag::number(frame), rest, Tag::length(frame), port, p)) [[unlikely]] {
            p.headers.begin(rest.data(), Tag::length(frame), port);
            skip(p);
        }
    }
    /// A packet of a port without handler, or of no class: nothing is known of it.
    void skip(Packet& p) const {
        Nf::skip(p);
        p.known = p.whole = false;
    }
    [[gnu::always_inline]] void prepare(Packet& p) const {
        if (p.whole | !p.known) [[unlikely]] {
            prepare_whole(p);
        } else {
            Nf::prepare_frame(p);
        }
    }
    uint32_t core(const Packet& p, uint32_t cores) const
        requires spreads
    {
        if (!p.known) return 0;
        return p.whole ? Nf::core(p, cores) : Nf::core_frame(p, cores);
    }
    /// Whole frames are rare ones.
    template <class Use, class Rare>
    [[gnu::always_inline]] static auto with_fields(const Packet& p, Use use, Rare rare) {
        if (p.whole | !p.known) [[unlikely]]
            return rare();
        return Nf::with_common_frame_fields(p, use, rare);
    }
    template <class Use>
    static auto with_rare_fields(const Packet& p, Use use) {
        if (p.whole) return Nf::with_fields(p, use);
        return use(p.fields);
    }
    template <class Fields>
    [[gnu::always_inline]] typename Nf::Verdict decide(const Fields& fields, Packet& p, typename Nf::Edits& edits) {
        if constexpr (Nf::emits) std::memcpy(addresses_.data(), p.frame(), addresses_.size());
        const typename Nf::Verdict verdict = Nf::decide(fields, p, edits);
        if (verdict.reason == 0) p.answer = answered(verdict);
        return verdict;
    }
    /// The answer, in place if there is room.
    template <class Fields>
    [[gnu::always_inline]] std::span<const uint8_t> apply(const Fields& fields, const typename Nf::Edits& edits,
                                                          Packet& p, uint8_t* frame, std::vector<uint8_t>& scratch) {
        if constexpr (of_frames<Fields>) {
            return edited(fields, edits, p, frame);
        } else {
            if (!p.whole) return edited_rare(edits, p, frame);
            const std::span<const uint8_t> rest = Nf::apply(fields, edits, p, frame + Tag::head, scratch);
            return wrapped(rest, p, frame);
        }
    }
    /// The answer to a probe, sent back to the controller: the edits of a packet about which nothing is decided, so
    /// that no state changes. A field that the frame does not carry is 0 there. In place if there is room, else valid
    /// until the next call; empty: it is no frame of fields of a class.
    std::span<const uint8_t> probed(uint8_t* frame, uint32_t size) {
        Packet p{};
        if (Tag::is_whole(frame)) return {};
        parse(frame, size, Tag::controller, p);
        if (!p.known) return {};
        p.answer = Tag::controller;
        typename Nf::Edits none;
        none.clear();
        return edited_rare(none, p, frame);
    }
    template <class Archive>
    void carry(Archive& archive) {
        Nf::carry(archive);
        archive(addresses_);
    }
    /// Each copy of a packet that a schedule held leaves at a port of its own.
    static void readdress(uint8_t* answer, uint16_t port) { Tag::set_port(answer, port); }

    /// A packet the NF made, as an own frame that leaves at `port`; valid until the next call.
    std::span<const uint8_t> own(uint16_t port, std::span<const uint8_t> packet) {
        answer_.assign(std::max(Tag::smallest, Tag::head + packet.size()), 0);
        std::copy_n(addresses_.begin() + 6, 6, answer_.begin());
        std::copy_n(addresses_.begin(), 6, answer_.begin() + 6);
        Tag::begin(answer_.data(), Tag::own);
        Tag::set_length(answer_.data(), packet.size());
        Tag::set_port(answer_.data(), port);
        std::copy(packet.begin(), packet.end(), answer_.begin() + Tag::head);
        return answer_;
    }

  private:
    [[gnu::noinline]] void parse_whole(std::span<const uint8_t> bytes, uint16_t port, Packet& p) const {
        Nf::parse(bytes.data(), static_cast<uint32_t>(bytes.size()), port, p);
    }
    [[gnu::noinline]] void prepare_whole(Packet& p) const {
        if (p.known) Nf::prepare(p);
    }
    static uint16_t answered(PortVerdict verdict) { return static_cast<uint16_t>(verdict.port); }
    static uint16_t answered(PortsVerdict verdict) {
        return static_cast<uint16_t>(std::has_single_bit(verdict.ports) ? std::countr_zero(verdict.ports)
                                                                        : Tag::port_set | verdict.ports);
    }

    /// Are these the fields of a frame, and not of a whole packet?
    template <class Fields>
    static constexpr bool of_frames = requires(const Fields& fields, const typename Nf::Edits& edits, uint8_t* bytes) {
        Nf::write_edits(fields, edits, bytes);
    };

    /// The packet as it leaves, in a frame.
    std::span<const uint8_t> wrapped(std::span<const uint8_t> packet, Packet& p, uint8_t* frame) {
        p.leaving = static_cast<uint32_t>(packet.size());
        const size_t end = Tag::head + packet.size(), size = std::max(Tag::smallest, end);
        uint8_t* const out = room(frame, p.frame_size, size);
        if (out + Tag::head != packet.data()) std::memcpy(out + Tag::head, packet.data(), packet.size());
        std::fill(out + end, out + size, uint8_t{0});
        Tag::set_length(out, packet.size());
        return sealed(out, size, p.answer);
    }
    /// Edits and zeros, of one size for all classes: these are a few stores, and a switch knows where they end.
    template <class Fields>
    [[gnu::always_inline]] std::span<const uint8_t> edited(const Fields& fields, const typename Nf::Edits& edits,
                                                           Packet& p, uint8_t* frame) {
        if constexpr (!Nf::Policy::immediate) p.leaving = p.headers.length();
        constexpr size_t size = Nf::edits_frame;
        uint8_t* const out = room(frame, p.frame_size, size);
        // In place: what is written is of the fields as they were read when the packet was decided.
        std::memset(out + Tag::head, 0, size - Tag::head);
        Nf::write_edits(fields, edits, out + Tag::head);
        return sealed(out, size, p.answer);
    }
    /// The same of a frame whose fields were copied to others before it was decided.
    [[gnu::noinline]] std::span<const uint8_t> edited_rare(const typename Nf::Edits& edits, Packet& p, uint8_t* frame) {
        return Nf::with_frame_fields(p, [&](const auto& fields) -> std::span<const uint8_t> {
            if constexpr (of_frames<std::remove_cvref_t<decltype(fields)>>) return edited(fields, edits, p, frame);
            return {};
        });
    }
    /// Where a frame of `size` bytes fits: `frame`, or elsewhere with its head.
    uint8_t* room(uint8_t* frame, uint32_t frame_size, size_t size) {
        if (size <= frame_size) return frame;
        answer_.resize(size);
        std::memcpy(answer_.data(), frame, Tag::head);
        return answer_.data();
    }
    /// Sends a frame back to where it came from.
    static std::span<const uint8_t> sealed(uint8_t* out, size_t size, uint16_t port) {
        std::array<uint8_t, 6> to, from;
        std::memcpy(to.data(), out, 6);
        std::memcpy(from.data(), out + 6, 6);
        std::memcpy(out, from.data(), 6);
        std::memcpy(out + 6, to.data(), 6);
        Tag::set_port(out, port);
        return {out, size};
    }

    std::vector<uint8_t> answer_;
    std::array<uint8_t, 12> addresses_{};  ///< the last frame's, if the NF makes packets
};

}  // namespace polysome
