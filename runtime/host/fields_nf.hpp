/// An NF behind a switch (nf/fields_frames.hpp) as live hosts drive it: frames in, answers out, time, configs, and
/// questions that a copy of the process answers.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>

#include "host/fields_control.hpp"
#include "host/live_clock.hpp"
#include "nf/fields_frames.hpp"
#include "nf/machine.hpp"

namespace polysome::host {

/// `Out` has send(std::span<const uint8_t> frame, uint64_t order): an answer, or with no_packet an own frame; valid
/// during the call. `Clock`: the NF's time, now() in ns, which never runs back.
template <class Nf, class Out, class Clock = LiveClock>
class FieldsHost {
  public:
    using Core = FieldsNf<Nf>;

    explicit FieldsHost(Out& out) : sink_{out}, machine_(sink_) {}
    FieldsHost(const FieldsHost&) = delete;
    FieldsHost& operator=(const FieldsHost&) = delete;

    uint64_t clock() const { return clock_.now(); }
    /// The number that the next frame has.
    uint64_t next_order() const { return machine_.next_order(); }

    /// Is this a frame of the switch, for us, to be decided about? Others are counted; a probe of the switch's
    /// controller is answered.
    bool accepts(uint8_t* frame, uint32_t size, const std::array<uint8_t, 6>& mac) {
        if (!Tag::accepts(frame, size)) {
            ++not_ours_;
            return false;
        }
        if (!std::equal(mac.begin(), mac.end(), frame)) {
            ++to_others_;
            return false;
        }
        if (Tag::is_probe(frame)) [[unlikely]] {
            const std::span<const uint8_t> answer = machine_.nf().probed(frame, size);
            ++(answer.empty() ? not_ours_ : probes_);
            if (!answer.empty()) sink_.out.send(answer, no_packet);
            return false;
        }
        bytes_in_ += size;
        return true;
    }
    /// A batch of accepted frames, with the ports of their tags.
    void arrive(std::span<const Arrival> arrivals) {
        if (arrivals.empty()) return;
        ++batches_;
        machine_.arrive(arrivals);
    }
    /// Does what is due.
    void advance() { machine_.advance(clock()); }

    /// ns until something is due, at most `most`.
    uint64_t idle(uint64_t most) {
        const uint64_t now = clock(), due = machine_.next_due(now + most);
        return due <= now ? 0 : std::min(due - now, most);
    }

    std::vector<uint8_t> save() {
        advance();
        Saver saver;
        saver(machine_);
        return saver.take();
    }
    uint64_t clock_offset() const { return clock_.offset(); }
    bool load(std::span<const uint8_t> state, uint64_t clock_offset) {
        clock_.go_on(clock_offset);
        Loader loader(state);
        loader(machine_);
        return loader.done();
    }

    std::string configure(std::span<const uint8_t> blob) {
        advance();
        if (!machine_.configure(blob)) return "this is no config of " + std::string(Nf::name);
        const std::string_view unset = machine_.nf().unset();
        return unset.empty() ? "" : "`" + std::string(unset) + "` is missing in it";
    }
    Child check(std::span<const uint8_t> blob, std::span<const Sample> samples) {
        advance();
        return Child([&](std::vector<uint8_t>& answer) {
            std::string why = configure(blob);
            if (why.empty() && !samples.empty()) why = nothing_passes(samples);
            answer.assign(why.begin(), why.end());
        });
    }
    Child attempt(uint16_t port, std::span<const uint8_t> packet) {
        advance();
        return Child([&](std::vector<uint8_t>& answer) { write_outcome(outcome(port, packet, true), answer); });
    }

    /// Counters of the NF and of its frames; `lost`, `unsent`: by the interface.
    FieldsStatistics statistics(uint64_t lost, uint64_t unsent) const {
        const auto& counted = machine_.counters();
        FieldsStatistics all;
        all.counters = {{"frames in", counted.packets_in},
                        {"bytes in", bytes_in_},
                        {"frames out", sink_.frames},
                        {"bytes out", sink_.bytes},
                        {"packets sent", counted.sent},
                        {"copies", counted.copies},
                        {"emitted", counted.emitted},
                        {"batches", batches_},
                        {"malformed frames", not_ours_},
                        {"frames to others", to_others_},
                        {"probes", probes_},
                        {"lost before they were received", lost},
                        {"not taken for sending", unsent}};
        for (size_t i = 1; i < Core::reasons.size(); ++i) {
            if (counted.dropped[i] != 0) all.drops.push_back({std::string(Core::reasons[i]), counted.dropped[i]});
        }
        all.held = machine_.held();
        return all;
    }

  private:
    static constexpr uint64_t step = 1'000'000'000;             ///< ns that a copy's time moves on at most
    static constexpr uint64_t horizon = uint64_t{3600} * step;  ///< ns after which a packet counts as stuck
    static constexpr std::chrono::milliseconds patience{1500};  ///< of the copy with a schedule
    static constexpr std::array<uint8_t, 12> addresses{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};

    /// What happened to one packet, in a copy.
    struct Watch {
        uint64_t order;
        bool happened = false;
        Outcome outcome;
        uint64_t since;
    };

    struct Seen {
        std::vector<LookupText> all;

        void look(std::string_view state, std::string_view operation, std::string key, std::string found) {
            all.push_back({std::string(state), std::string(operation), std::move(key), std::move(found)});
        }
    };

    struct Sink {
        Out& out;
        uint64_t frames = 0, bytes = 0;
        Watch* watch = nullptr;  ///< only in a copy: nothing is sent

        void left(uint16_t port, uint64_t time, std::span<const uint8_t> answer, uint64_t order) {
            if (watch != nullptr) [[unlikely]]
                return watched(port, time, answer, order);
            ++frames;
            bytes += answer.size();
            out.send(answer, order);
        }
        void emitted(uint16_t, uint64_t, std::span<const uint8_t> frame, uint64_t) {
            if (watch != nullptr) [[unlikely]]
                return;
            ++frames;
            bytes += frame.size();
            out.send(frame, no_packet);
        }
        void dropped(uint64_t order, uint16_t reason) {
            if (watch == nullptr || order != watch->order) return;
            watch->happened = true;
            watch->outcome.reason = Core::reasons[reason];
        }
        template <class Packet>
        void decided(uint64_t, uint64_t, const Packet&) {}

        void watched(uint16_t port, uint64_t time, std::span<const uint8_t> answer, uint64_t order) {
            if (order != watch->order) return;
            Outcome& outcome = watch->outcome;
            if (!watch->happened) {
                outcome.delay = time - watch->since;
                const std::span<const uint8_t> packet = Tag::packet(answer);
                outcome.packet.assign(packet.begin(), packet.end());
            }
            watch->happened = true;
            outcome.ports |= (port & Tag::port_set) != 0 ? port & ~Tag::port_set : uint64_t{1} << port;
        }
    };

    /// In a copy: lets the packet arrive as a whole frame, and time go on until the schedule has let it go.
    Outcome outcome(uint16_t port, std::span<const uint8_t> packet, bool traced) {
        const auto patient_until = std::chrono::steady_clock::now() + patience;
        Watch watch{.order = next_order(), .outcome = {}, .since = machine_.now()};
        sink_.watch = &watch;
        std::vector<uint8_t> frame = whole_frame(port, packet);
        const Arrival arrival{machine_.now(), frame.data(), static_cast<uint32_t>(frame.size()), port};
        if (traced) watch.outcome.lookups = lookups(frame, port, patient_until);
        machine_.arrive({&arrival, 1});
        while (!watch.happened || machine_.holds(watch.order)) {
            const uint64_t next = machine_.now() + step;
            if (next > watch.since + horizon || std::chrono::steady_clock::now() > patient_until) break;
            machine_.advance(std::clamp(machine_.next_due(next), machine_.now() + 1, next));
        }
        if (!watch.happened) watch.outcome.reason = "held by the schedule";
        return std::move(watch.outcome);
    }

    /// In a copy: why none of the samples is sent, in words; empty: one is.
    std::string nothing_passes(std::span<const Sample> samples) {
        std::map<std::string, size_t> reasons;
        for (const Sample& sample : samples) {
            const Outcome found = outcome(sample.port, sample.packet, false);
            if (found.ports != 0) return "";
            ++reasons[found.reason];
        }
        std::string text = "none of " + std::to_string(samples.size()) + " packets that " + std::string(Nf::name) +
                           " is for gets through with it, and without `force` it is not taken";
        for (const auto& [reason, count] : reasons) text += "; " + std::to_string(count) + ": " + reason;
        return text;
    }

    /// What the decision about a whole frame looks at: found out by one more copy, whose verdict is thrown away.
    std::vector<LookupText> lookups(std::vector<uint8_t>& frame, uint16_t port, Child::Time deadline) {
        if (!machine_.nf().handles(port)) return {};
        Child child([&](std::vector<uint8_t>& answer) {
            Nf& nf = machine_.nf();
            typename Nf::Packet packet;
            nf.Nf::parse(frame.data() + Tag::head, static_cast<uint32_t>(frame.size() - Tag::head), port, packet);
            nf.Nf::prepare(packet);
            Seen seen;
            nf.Nf::with_fields(packet, [&](const auto& fields) { nf.decide_traced(fields, packet, seen); });
            write_lookups(seen.all, answer);
        });
        std::vector<LookupText> found;
        const auto said = child.answer_by(deadline);
        if (!said || !read_lookups(*said, found)) return {};
        return found;
    }

    static std::vector<uint8_t> whole_frame(uint16_t port, std::span<const uint8_t> packet) {
        std::vector<uint8_t> frame(Tag::head + packet.size());
        std::copy(addresses.begin(), addresses.end(), frame.begin());
        Tag::begin(frame.data(), Tag::whole);
        Tag::set_length(frame.data(), packet.size());
        Tag::set_port(frame.data(), port);
        std::copy(packet.begin(), packet.end(), frame.begin() + Tag::head);
        return frame;
    }

    Clock clock_;
    Sink sink_;
    Machine<Core, Sink> machine_;
    uint64_t bytes_in_ = 0, batches_ = 0, not_ours_ = 0, to_others_ = 0, probes_ = 0;
};

}  // namespace polysome::host
