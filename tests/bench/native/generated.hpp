/// The columns of generated code: on whole packets, and on the frames of a switch that keeps the packets.
///
/// NF_NAME is the network function; GENERATED its header; BENCH_FACTS what bench_native.py knows of it:
///   edit_places           where edits of fields frames go
///   each_map(nf, each)    calls each(map) for all its flow maps
#pragma once

#include GENERATED

#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "column.hpp"
#include "nf/fields_frames.hpp"
#include "nf/machine.hpp"

namespace polysome::bench {

/// An edit of packets of class `number`: `bytes` bytes at `offset` of the edits, right-aligned, are the `width` bits
/// from bit `bit` of the frame on.
struct EditPlace {
    uint8_t number;
    uint16_t bit, width, offset, bytes;
};

}  // namespace polysome::bench

#include BENCH_FACTS

namespace polysome::bench {

using GeneratedNf = nf::NF_NAME::Nf;

inline void must(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "generated code: %s\n", what);
    std::exit(1);
}

/// What both have in common. `Made` is the class itself, which the machine tells what happens.
template <class Nf, class Made>
class GeneratedBase : public ColumnOf<Made> {
  public:
    static constexpr size_t BATCH_SIZE = largest_batch;

    GeneratedBase(Made& self, std::span<const uint64_t> sizes, std::span<const uint8_t> config)
        : machine_(self, sizes, false, BATCH_SIZE) {
        must(machine_.configure(config), "it refuses its config");
    }
    uint64_t emitted() const override { return machine_.counters().emitted; }
    void emit_to(Emit emit, void* to) override {
        emit_ = emit;
        to_ = to;
    }
    /// Bytes that its flow maps take when they are full, as their code says.
    uint64_t memory() const {
        uint64_t sum = 0;
        each_map(machine_.nf(), [&](const auto& map) { sum += map.memory(); });
        return sum;
    }
    /// Bytes that an entry takes at most, over all maps, as their code says.
    uint64_t bytes_per_entry() const {
        uint64_t sum = 0;
        each_map(machine_.nf(), [&](const auto& map) { sum += std::remove_cvref_t<decltype(map)>::bytes_per_entry(); });
        return sum;
    }

    void dropped(uint64_t, uint16_t) {}
    template <class AnyPacket>
    void decided(uint64_t, uint64_t, const AnyPacket&) {}

  protected:
    void tell(uint64_t time, std::span<const uint8_t> bytes) {
        if (emit_ != nullptr) emit_(to_, time, bytes);
    }

    Machine<Nf, Made> machine_;

  private:
    Emit emit_ = nullptr;
    void* to_ = nullptr;
};

class GeneratedColumn final : public GeneratedBase<GeneratedNf, GeneratedColumn> {
  public:
    GeneratedColumn(std::span<const uint64_t> sizes, std::span<const uint8_t> config)
        : GeneratedBase(*this, sizes, config) {}

    void left(uint16_t port, uint64_t, std::span<const uint8_t> bytes, uint64_t order) {
        Packet& p = packets_[order - first_];
        if (bytes.data() != p.data) std::copy(bytes.begin(), bytes.end(), p.data);
        p.size = static_cast<uint16_t>(bytes.size());
        p.out = static_cast<uint8_t>(port);
    }
    using GeneratedBase::emitted;
    void emitted(uint16_t, uint64_t time, std::span<const uint8_t> bytes, uint64_t) { tell(time, bytes); }

    void step(size_t at) {
        const size_t n = batch_size();
        trace_->copy(at, n, buffers_);
        batch(buffers_.first(n), later(n));
    }
    void batch(std::span<Packet> packets, uint64_t now) override {
        std::array<Arrival, MOST> arrivals;
        packets_ = packets.data();
        for (size_t i = 0; i < packets.size(); ++i) {
            packets[i].out = DROP;
            arrivals[i] = {now, packets[i].data, packets[i].size, packets[i].port};
        }
        machine_.arrive({arrivals.data(), packets.size()});
        first_ += packets.size();
    }

  private:
    Packet* packets_ = nullptr;
    uint64_t first_ = 0;
    Buffers buffers_;
};

/// Frames with the fields of the packets come in, and frames with their edits go out. For whole packets it plays the
/// switch too: takes the fields from them, and applies the edits; `step` takes frames prepared before.
class FieldsColumn final : public GeneratedBase<FieldsNf<GeneratedNf>, FieldsColumn> {
  public:
    FieldsColumn(std::span<const uint64_t> sizes, std::span<const uint8_t> config)
        : GeneratedBase(*this, sizes, config) {}

    void load(const Trace& trace, bool far) override {
        Column::load(trace, far);
        const size_t count = trace.order.size();
        prepared_ = large_array<Frame>(count);
        sizes_.resize(count);
        for (size_t i = 0; i < count; ++i) {
            sizes_[i] = take_fields({trace.frames[i].data(), FRAME, trace.ports[i], DROP}, prepared_[i]);
        }
    }
    void step(size_t at) {
        // One by one, as Trace::copy does.
        const size_t n = batch_size();
        decide(n, sizes_.data() + at, later(n), [&](size_t i) { frames_[i] = prepared_[at + i]; });
    }

    void left(uint16_t, uint64_t, std::span<const uint8_t> bytes, uint64_t order) {
        uint8_t* frame = frames_[order - first_].data();
        if (bytes.data() != frame) std::copy(bytes.begin(), bytes.end(), frame);
        answers_[order - first_] = static_cast<uint8_t>(bytes.size());
    }
    using GeneratedBase::emitted;
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t) {
        tell(time, machine_.nf().own(port, bytes));
    }
    void batch(std::span<Packet> packets, uint64_t now) override {
        std::array<uint8_t, MOST> sizes;
        for (size_t i = 0; i < packets.size(); ++i) sizes[i] = take_fields(packets[i], frames_[i]);
        decide(packets.size(), sizes.data(), now, [](size_t) {});
        for (size_t i = 0; i < packets.size(); ++i) {
            packets[i].out = DROP;
            if (answers_[i] != 0) apply(frames_[i].data(), packets[i]);
        }
    }

  private:
    /// The frame that a switch would send, and its size.
    uint8_t take_fields(const Packet& packet, Frame& frame) const {
        GeneratedNf::Packet parsed;
        static_cast<const GeneratedNf&>(machine_.nf()).parse(packet.data, packet.size, packet.port, parsed);
        const uint8_t number = GeneratedNf::frame_class(parsed);
        must(number != 0, "a packet of the bench travels whole");
        std::array<uint8_t, std::max<size_t>(GeneratedNf::most_fields, 1)> fields;
        const size_t bytes = GeneratedNf::write_fields(parsed, number, fields.data());
        must(Tag::head + bytes <= FRAME, "the fields do not fit in a frame of the bench");
        static constexpr std::array<uint8_t, 12> addresses{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
        frame.fill(0);
        std::copy(addresses.begin(), addresses.end(), frame.begin());
        Tag::begin(frame.data(), Tag::split, number);
        Tag::set_length(frame.data(), packet.size);
        Tag::set_port(frame.data(), packet.port);
        std::copy_n(fields.begin(), bytes, frame.begin() + Tag::head);
        return static_cast<uint8_t>(std::max(Tag::smallest, Tag::head + bytes));
    }

    /// The first `count` of frames_, each once `fetch(i)` has run: they become their answers, of sizes answers_ (0:
    /// dropped).
    template <class Fetch>
    void decide(size_t count, const uint8_t* sizes, uint64_t now, Fetch fetch) {
        std::array<Arrival, MOST> arrivals;
        for (size_t i = 0; i < count; ++i) {
            fetch(i);
            answers_[i] = 0;
            arrivals[i] = {now, frames_[i].data(), sizes[i], Tag::port(frames_[i].data())};
        }
        machine_.arrive({arrivals.data(), count});
        first_ += count;
    }

    /// What the switch does with an answer.
    static void apply(const uint8_t* answer, Packet& packet) {
        must((Tag::port(answer) & Tag::port_set) == 0, "a packet of the bench leaves at several ports");
        packet.out = static_cast<uint8_t>(Tag::port(answer));
        bool changed = false;
        for (const EditPlace& edit : edit_places) {
            if (edit.number != Tag::number(answer)) continue;
            const uint8_t* value = answer + Tag::head + edit.offset;
            for (uint32_t i = 0; i < edit.width; ++i) {
                const uint32_t from = edit.bytes * 8u - edit.width + i, to = edit.bit + i;
                const auto mask = static_cast<uint8_t>(0x80 >> to % 8);
                const bool one = (value[from / 8] >> (7 - from % 8) & 1) != 0;
                changed = changed || ((packet.data[to / 8] & mask) != 0) != one;
                packet.data[to / 8] =
                    static_cast<uint8_t>(one ? packet.data[to / 8] | mask : packet.data[to / 8] & ~mask);
            }
        }
        if (changed) seal(packet.data);
    }

    Frame* prepared_ = nullptr;  ///< of the trace
    std::vector<uint8_t> sizes_;
    alignas(64) std::array<Frame, MOST> frames_;  ///< the present batch
    std::array<uint8_t, MOST> answers_{};
    uint64_t first_ = 0;
};

}  // namespace polysome::bench
