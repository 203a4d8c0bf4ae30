/// One NF at work: time, events in their order, verdicts, the schedule, counters (LANGUAGE.md sections 2, 9, 11, 13).
///
/// The same as the reference interpreter's machine, event by event. Deterministic; reads no clock; uses no thread.
///
/// `Nf` is generated code (or a test's): it parses, decides and applies. `Sink` takes what happens, in its order:
///   void left(uint16_t port, uint64_t time, std::span<const uint8_t>, uint64_t order);
///   void emitted(uint16_t port, uint64_t time, std::span<const uint8_t>, uint64_t cause);  // cause: no_packet if none
///   void dropped(uint64_t order, uint16_t reason);                  // no copy of the packet left or will
///   void decided(uint64_t order, uint64_t now, const Nf::Packet&);  // right before its handler runs
/// Bytes given to a sink are valid during the call. `order` is the number of the packet that arrived, from 0.
///
/// An `Nf` that is `framed` takes and gives frames that stand for packets: see fields_frames.hpp, which says what of
/// the above is different then.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <concepts>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "nf/archive.hpp"
#include "nf/counters.hpp"
#include "nf/memory.hpp"
#include "nf/on_the_way.hpp"
#include "nf/policy/base.hpp"
#include "nf/siphash.hpp"
#include "nf/types.hpp"

namespace polysome {

/// A frame that arrives at `port` at `time` ns. The machine may change its bytes, and does not keep them.
struct Arrival {
    uint64_t time;
    uint8_t* data;
    uint32_t size;
    uint16_t port;
};

/// Do frames stand for the NF's packets (fields_frames.hpp)?
template <class Nf>
inline constexpr bool framed = requires { requires Nf::framed; };

inline constexpr uint64_t no_packet = ~uint64_t{0};
inline constexpr size_t largest_batch = 64;

template <class Nf, class Sink>
class Machine final : Emitter {
  public:
    using Packet = typename Nf::Packet;
    using Policy = typename Nf::Policy;
    using Count = Counters<Nf::reasons.size()>;

    /// A packet between its parsing and its verdict. What all packets need of it stands at its beginning, in as few
    /// lines as can be, so that a batch fits the first cache level.
    struct alignas(64) Place {
        Packet packet;
    };

    /// `sizes`: empty for those of the spec. `batch`: packets looked at ahead at most, 1 to 64; it changes no result.
    explicit Machine(Sink& sink, std::span<const uint64_t> sizes = {}, bool collide = false,
                     size_t batch = largest_batch)
        : sink_(sink),
          nf_(sizes, collide, *this),
          policy_(Nf::settings(sizes)),
          batch_(std::clamp<size_t>(batch, 1, largest_batch)),
          places_(batch_) {}
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    /// The config at the start, or from now on. False if the blob is malformed; then nothing changed.
    bool configure(std::span<const uint8_t> blob) {
        settled_ = false;
        return nf_.configure(blob);
    }

    /// A config change at `time`; changes are given in order of time. A malformed one changes nothing: see failed().
    void change_at(uint64_t time, std::span<const uint8_t> blob) {
        changes_.push_back({time, {blob.begin(), blob.end()}});
        settled_ = false;
        plan();
    }

    /// Packets, in the order in which they are handled; before each, everything that is due at or before its time. One
    /// whose time lies before that of an earlier one arrives at that of the earlier one. Their bytes lie apart.
    void arrive(std::span<const Arrival> arrivals) {
        while (!arrivals.empty()) {
            const auto batch = arrivals.first(std::min(batch_now(), arrivals.size()));
            arrivals = arrivals.subspan(batch.size());
            if (changes_due(batch)) {
                for (size_t i = 0; i < batch.size(); ++i) {
                    until_arrival(batch[i].time);  // first, as rows are looked up before a packet is answered
                    together(batch.subspan(i, 1));
                }
            } else {
                together(batch);
            }
        }
    }

    /// Time moves on to `time`, if that is later: everything due at or before it happens.
    void advance(uint64_t time) {
        until(time);
        nf_.clock.now = std::max(nf_.clock.now, time);
    }

    /// When something is due next that advance() lets happen; NEVER if nothing is. Of entries that end, only those
    /// that do so by `by` are looked for.
    uint64_t next_due(uint64_t by) {
        u128 due = std::min<u128>(nf_.next_due(by), planned_);
        if constexpr (!Policy::immediate) due = std::min(due, policy_.next_due());
        return due < NEVER ? static_cast<uint64_t>(due) : NEVER;
    }

    /// The end of the trace: what is due at the last packet's time still happens.
    void finish() { until(nf_.clock.now); }

    const Count& counters() const { return counters_; }
    /// Packets in the schedule of which no copy has left.
    uint64_t held() const { return held_; }
    /// Has the schedule a copy of this packet that may still leave? O(packets held).
    bool holds(uint64_t order) const { return on_the_way_.holds(order); }
    /// Was a config change malformed?
    bool failed() const { return failed_; }
    uint64_t now() const { return nf_.clock.now; }
    Nf& nf() { return nf_; }
    const Nf& nf() const { return nf_; }

    /// All that the NF remembers, and what its schedule holds, to a new one; `configure` follows there. Counters begin
    /// anew, but for the packets that are held. Not during a call of this.
    template <class Archive>
    void carry(Archive& archive) {
        uint64_t first = next_order() - held_;
        archive(nf_, policy_, fired_, start_, started_, changes_, held_, first, on_the_way_);
        if constexpr (Archive::loading) {
            first_order_ = first;
            counters_.packets_in = held_;
            settled_ = false;
            plan();
        }
    }

    // ---- the steps of an arrival, for those who drive several machines (sharded.hpp)

    /// What the next packet that arrives is known by.
    uint64_t next_order() const { return first_order_ + counters_.packets_in; }

    /// The first packet's time, which `every` counts from; only the first call has an effect.
    void start(uint64_t time) {
        if (started_) return;
        started_ = true;
        start_ = time;
        plan();
    }
    /// Is a config change due at or before the last of these?
    bool changes_due(std::span<const Arrival> batch) const {
        if (changes_.empty()) return false;
        uint64_t last = nf_.clock.now;
        for (const Arrival& arrival : batch) last = std::max(last, arrival.time);
        return changes_.front().time <= last;
    }
    [[gnu::always_inline]] void parse(const Arrival& arrival, Place& place) const {
        place.packet.handled = nf_.handles(arrival.port);
        if (!place.packet.handled) [[unlikely]]
            return nf_.skip(place.packet);
        nf_.parse(arrival.data, arrival.size, arrival.port, place.packet);
    }
    [[gnu::always_inline]] void prepare(Place& place) const {
        if (place.packet.handled) [[likely]]
            nf_.prepare(place.packet);
    }
    /// Hashes what `prepare` wrote down for sketches.
    [[gnu::always_inline]] static void hash(std::span<Place> places) {
        for (size_t i = 0; i < places.size(); i += sip_lanes) {
            const size_t last = std::min(sip_lanes, places.size() - i) - 1;
            Nf::hash_together([&](size_t lane) -> auto& { return places[i + std::min(lane, last)].packet.ahead; });
        }
    }
    [[gnu::always_inline]] void prefetch(Place& place) const { nf_.prefetch_entries(place.packet); }
    /// The handler, at the present time, and what becomes of the packet.
    void handle(const Arrival& arrival, Place& place, uint64_t order) {
        counted(1, [&] { answer(arrival, place, order); });
    }

    // ---- for the policy (policy/base.hpp)

    void leave(uint32_t number, uint16_t port, uint64_t time) {
        OnTheWay::Packet& packet = on_the_way_[number];
        if constexpr (framed<Nf>) Nf::readdress(const_cast<uint8_t*>(packet.data), port);
        ++counters_.copies;
        if (!packet.sent) {
            packet.sent = true;
            ++counters_.sent;
            --held_;
        }
        sink_.left(port, time, {packet.data, packet.size}, packet.order);
        on_the_way_.one_less(number);
    }
    void refuse(uint32_t number, uint16_t reason) {
        OnTheWay::Packet& packet = on_the_way_[number];
        if (packet.waiting == 1 && !packet.sent) {
            --held_;
            drop(packet.order, reason);
        }
        on_the_way_.one_less(number);
    }

  private:
    static constexpr bool one_port = std::same_as<typename Nf::Verdict, PortVerdict>;

    struct Change {
        uint64_t time;
        std::vector<uint8_t> blob;

        template <class Archive>
        void carry(Archive& archive) {
            archive(time, blob);
        }
    };

    // ------------------------------------------------------------ time

    /// Everything due at or before `now`, in order of time and, at one instant, of L2.3.
    void until(uint64_t now) {
        while (event(now)) {
        }
    }

    /// The next event, if it is due at or before `by`: an expiry, releases, a timer, or a config change.
    bool event(uint64_t by) {
        enum { none, expiry, release, timer, change } what = none;
        u128 best = static_cast<u128>(by) + 1;
        if (const uint64_t due = nf_.next_due(by); due <= by && due != NEVER) {
            best = due;
            what = expiry;
        }
        if constexpr (!Policy::immediate) {
            if (const u128 due = policy_.next_due(); due < best) {
                best = due;
                what = release;
            }
        }
        if (planned_ < best) {
            best = planned_;
            what = planned_timer_ < Nf::periods.size() ? timer : change;
        }
        if (what == none) return false;
        nf_.clock.now = std::max(nf_.clock.now, static_cast<uint64_t>(best));
        switch (what) {
            case expiry:
                nf_.expire_one();
                break;
            case release:
                policy_.run_due(*this);
                break;
            case timer:
                fire();
                break;
            default:
                replace();
        }
        return true;
    }

    /// Which timer or config change comes first.
    void plan() {
        planned_ = not_due;
        planned_timer_ = Nf::periods.size();
        if (started_) {
            for (size_t i = 0; i < Nf::periods.size(); ++i) {
                const u128 at = start_ + static_cast<u128>(fired_[i] + 1) * Nf::periods[i];
                if (at < planned_) {
                    planned_ = at;
                    planned_timer_ = i;
                }
            }
        }
        if (!changes_.empty() && changes_.front().time < planned_) {
            planned_ = changes_.front().time;
            planned_timer_ = Nf::periods.size();
        }
    }

    void fire() {
        const size_t i = planned_timer_;
        ++fired_[i];
        plan();
        nf_.every(i);
    }

    void replace() {
        const Change next = std::move(changes_.front());
        changes_.pop_front();
        plan();
        if (!nf_.configure(next.blob)) failed_ = true;
    }

    // ------------------------------------------------------------ packets

    /// How many packets to look at ahead: so many that their entries come in time.
    size_t batch_now() const { return nf_.remembered() > far_away ? batch_ : std::min(batch_, largest_batch / 2); }

    void together(std::span<const Arrival> batch) {
        const size_t n = batch.size();
        Place* const places = places_.data();  // which no write to a place changes, but the compiler cannot know
        const uint64_t first = next_order();
        uint64_t last = 0;
        for (size_t i = 0; i < n; ++i) {
            parse(batch[i], places[i]);
            prepare(places[i]);
            last = std::max(last, batch[i].time);
        }
        hash({places, n});
        for (size_t i = 0; i < n; ++i) prefetch(places[i]);
        counted(n, [&]() __attribute__((always_inline)) {
            bool settled = false;
            for (size_t i = 0; i < n; ++i) {
                if (!settled) {
                    until_arrival(batch[i].time);
                    settled = stays_settled(last);
                }
                answer(batch[i], places[i], first + i);
            }
        });
    }

    /// Counts `n` packets that `answer_all` answers: those that leave at once together, for what is not dropped is
    /// sent.
    template <class AnswerAll>
    [[gnu::always_inline]] void counted(size_t n, AnswerAll answer_all) {
        counters_.packets_in += n;
        const uint64_t before = drops_;
        answer_all();
        if constexpr (Policy::immediate) {
            const uint64_t sent = n - (drops_ - before);
            counters_.sent += sent;
            if constexpr (one_port) counters_.copies += sent;
        }
    }

    [[gnu::always_inline]] void answer(const Arrival& arrival, Place& place, uint64_t order) {
        nf_.with_fields(
            place.packet,
            [&](const auto& fields) __attribute__((always_inline)) {
                sink_.decided(order, nf_.clock.now, static_cast<const Packet&>(place.packet));
                decide(fields, place.packet, arrival.data, order);
            },
            [&] { answer_rare(place, arrival.data, order); });
    }
    /// Of a packet that is none of those that most are: nobody handles it, nobody knows it, it has no common shape.
    [[gnu::noinline]] void answer_rare(Place& place, uint8_t* frame, uint64_t order) {
        if (!place.packet.handled) return drop(order, reason_no_handler);
        sink_.decided(order, nf_.clock.now, static_cast<const Packet&>(place.packet));
        if constexpr (framed<Nf>) {
            if (!place.packet.known) return drop(order, Nf::malformed);
        }
        nf_.with_rare_fields(place.packet, [&](const auto& fields) { decide(fields, place.packet, frame, order); });
    }

    /// Is nothing due until `time` but what has happened? Entries that packets of this very instant make are due later,
    /// and nothing else can become due.
    bool stays_settled(uint64_t time) const { return Policy::immediate && time <= nf_.clock.now && settled_; }
    void until_arrival(uint64_t time) {
        if (stays_settled(time)) return;
        const uint64_t now = std::max(nf_.clock.now, time);
        if (!started_) start(now);
        until(now);
        nf_.clock.now = now;
        settled_ = true;
    }

    /// The verdict, and all that follows from it. One function, inlined for each kind of fields: what the handler wants
    /// edited then is in registers until it is written to the frame.
    template <class Fields>
    [[gnu::always_inline]] void decide(const Fields& fields, Packet& packet, uint8_t* frame, uint64_t order) {
        typename Nf::Edits edits;
        edits.clear();
        if constexpr (Nf::emits) cause_ = order;
        const typename Nf::Verdict verdict = nf_.decide(fields, packet, edits);
        if constexpr (Nf::emits) cause_ = no_packet;
        if (verdict.reason != 0) [[unlikely]]
            return drop(order, verdict.reason);
        if (packet.headers.is_short()) [[unlikely]]
            return drop(order, reason_short_frame);
        if (verdict.count() == 0) [[unlikely]]
            return drop(order, reason_empty_set);
        if constexpr (Policy::immediate) {
            send(fields, edits, packet, frame, verdict, order);
        } else {
            schedule(fields, edits, packet, frame, verdict, order);
        }
    }

    void drop(uint64_t order, uint16_t reason) {
        ++drops_;
        ++counters_.dropped[reason];
        sink_.dropped(order, reason);
    }

    /// Past a schedule that never holds anything: no class, no record.
    template <class Fields>
    [[gnu::always_inline]] void send(const Fields& fields, const typename Nf::Edits& edits, Packet& packet,
                                     uint8_t* frame, const typename Nf::Verdict& verdict, uint64_t order) {
        const std::span<const uint8_t> bytes = nf_.apply(fields, edits, packet, frame, scratch_);
        if constexpr (!one_port) counters_.copies += verdict.count();
        if constexpr (framed<Nf>) return sink_.left(packet.answer, nf_.clock.now, bytes, order);
        verdict.each([&](uint16_t port) { sink_.left(port, nf_.clock.now, bytes, order); });
    }

    /// Hands the packet, once for each port in their order, to the schedule.
    template <class Fields>
    void schedule(const Fields& fields, const typename Nf::Edits& edits, Packet& packet, uint8_t* frame,
                  const typename Nf::Verdict& verdict, uint64_t order) {
        Item<typename Nf::ClassKey> item;
        // Before apply, which may change the frame that fields are read from.
        if (const uint16_t reason = nf_.args_of(fields, edits, item.args); reason != 0) return drop(order, reason);
        item.cls = nf_.class_of(fields);
        const std::span<const uint8_t> bytes = nf_.apply(fields, edits, packet, frame, scratch_);
        item.packet = on_the_way_.enter(bytes, verdict.count(), order);
        ++held_;
        item.size = static_cast<uint32_t>(bytes.size());
        if constexpr (framed<Nf>) item.size = packet.leaving;
        item.size = std::max<uint32_t>(item.size, 14);
        item.order = order;
        verdict.each([&](uint16_t port) {
            item.port = port;
            policy_.offer(item, nf_.clock.now, *this);
        });
        on_the_way_.keep(item.packet);
    }

    void emitted(uint16_t port, const uint8_t* data, size_t size) override {
        ++counters_.emitted;
        std::span<const uint8_t> bytes(data, size);
        if constexpr (framed<Nf>) bytes = nf_.own(port, bytes);
        sink_.emitted(port, nf_.clock.now, bytes, cause_);
    }

    Sink& sink_;
    Nf nf_;
    Policy policy_;
    size_t batch_;
    std::vector<Place> places_;
    std::vector<uint8_t> scratch_;
    Count counters_;
    uint64_t drops_ = 0;  ///< for whatever reason, since the machine was made
    uint64_t held_ = 0;
    uint64_t first_order_ = 0;  ///< of the first packet that counters know
    uint64_t cause_ = no_packet;

    u128 planned_ = not_due;  ///< the first timer or config change
    size_t planned_timer_ = Nf::periods.size();
    std::array<uint64_t, Nf::periods.size()> fired_{};
    uint64_t start_ = 0;
    bool started_ = false;
    bool settled_ = false;  ///< nothing is due at or before the present time but what a packet of this time causes
    bool failed_ = false;
    std::deque<Change> changes_;

    OnTheWay on_the_way_;
};

}  // namespace polysome
