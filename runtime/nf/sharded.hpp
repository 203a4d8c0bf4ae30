/// Several machines, one per core, on one time line: what N cores do, in an order that is always the same.
///
/// Before a packet at t every machine, in core order, is brought to t: all that is due on core 0 happens, then all of
/// core 1, and so on. Then the packet goes to the core that Nf::core(const Packet&, cores) names; one of a port without
/// handler goes to core 0. Packets are numbered over all cores; `every` counts from the first packet of all; a config
/// change happens on each core at its instant. With one core this is the Machine.
#pragma once

#include <memory>

#include "nf/machine.hpp"

namespace polysome {

template <class Nf, class Sink>
class Sharded {
  public:
    using One = Machine<Nf, Sink>;

    /// An NF without `core` has state that no packet field divides: it runs on one core.
    static constexpr bool divisible =
        requires(const Nf& nf, const typename Nf::Packet& packet) { nf.core(packet, uint32_t{1}); };

    /// `cores` at least 1; taken as 1 if the NF is not divisible.
    Sharded(Sink& sink, uint32_t cores, std::span<const uint64_t> sizes = {}, bool collide = false,
            size_t batch = largest_batch)
        : batch_(std::clamp<size_t>(batch, 1, largest_batch)), places_(batch_), cores_(batch_) {
        for (uint32_t i = 0; i < (divisible ? std::max(cores, 1u) : 1); ++i) {
            machines_.push_back(std::make_unique<One>(sink, sizes, collide, batch));
        }
    }

    /// False if the blob is malformed; then nothing changed.
    bool configure(std::span<const uint8_t> blob) {
        for (auto& machine : machines_) {
            if (!machine->configure(blob)) return false;  // the first one says so, before any has changed
        }
        return true;
    }
    void change_at(uint64_t time, std::span<const uint8_t> blob) {
        for (auto& machine : machines_) machine->change_at(time, blob);
    }

    void arrive(std::span<const Arrival> arrivals) {
        if (machines_.size() == 1) return machines_.front()->arrive(arrivals);
        while (!arrivals.empty()) {
            const auto batch = arrivals.first(std::min(batch_, arrivals.size()));
            arrivals = arrivals.subspan(batch.size());
            if (machines_.front()->changes_due(batch)) {
                for (const Arrival& arrival : batch) {
                    until(arrival.time);
                    together(std::span(&arrival, 1));
                }
            } else {
                together(batch);
            }
        }
    }
    void advance(uint64_t time) {
        for (auto& machine : machines_) machine->advance(time);
    }
    /// All machines have the same time: that of the last packet.
    void finish() {
        for (auto& machine : machines_) machine->finish();
    }

    Counters<Nf::reasons.size()> counters() const {
        Counters<Nf::reasons.size()> all;
        for (const auto& machine : machines_) all.add(machine->counters());
        return all;
    }
    uint64_t held() const {
        uint64_t all = 0;
        for (const auto& machine : machines_) all += machine->held();
        return all;
    }
    bool failed() const { return machines_.front()->failed(); }
    uint64_t now() const { return machines_.front()->now(); }
    size_t cores() const { return machines_.size(); }
    One& machine(size_t core) { return *machines_[core]; }

  private:
    void until(uint64_t time) {
        const uint64_t now = std::max(this->now(), time);
        for (auto& machine : machines_) {
            machine->start(now);
            machine->advance(now);
        }
    }

    void together(std::span<const Arrival> batch) {
        const size_t n = batch.size();
        for (size_t i = 0; i < n; ++i) {
            machines_.front()->parse(batch[i], places_[i]);
            cores_[i] = core(places_[i]);
        }
        for (size_t i = 0; i < n; ++i) machines_[cores_[i]]->prepare(places_[i]);
        One::hash({places_.data(), n});
        for (size_t i = 0; i < n; ++i) machines_[cores_[i]]->prefetch(places_[i]);
        for (size_t i = 0; i < n; ++i) {
            until(batch[i].time);
            machines_[cores_[i]]->handle(batch[i], places_[i], order_++);
        }
    }

    uint32_t core(const typename One::Place& place) const {
        if constexpr (divisible) {
            if (place.packet.handled)
                return machines_.front()->nf().core(place.packet, static_cast<uint32_t>(machines_.size()));
        }
        return 0;
    }

    std::vector<std::unique_ptr<One>> machines_;
    size_t batch_;
    std::vector<typename One::Place> places_;
    std::vector<uint32_t> cores_;
    uint64_t order_ = 0;
};

}  // namespace polysome
