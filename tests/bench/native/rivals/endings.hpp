/// When entries end: exactly, and at next to no cost for one that is used again and again.
///
/// A lifetime's entries all end the same time after their last use, so the order of uses is the order of ends, and of
/// eviction. A use only writes the time into the entry. The entry waits where it was last seen: in a wheel, by the tick
/// of that use, or, once its tick is looked at, in a heap. When its turn comes, one that was used since goes to where
/// it belongs now: once per lifetime, not per packet.
#pragma once

#include <algorithm>
#include <vector>

#include "table.hpp"

namespace polysome::bench {

inline constexpr uint64_t SECOND = 1'000'000'000;  // ns

/// What an entry must remember of its end. All zero in a free place.
struct Life {
    uint64_t last = 0;  ///< time of the last use
    uint32_t seq = 0;   ///< what was inserted first has the lower one
    uint32_t tick = 0;  ///< where it waits: Lifetime's affair
};

/// What is known of the entry that was used longest ago.
struct Oldest {
    uint64_t last;
    uint32_t seq, place;

    bool before(const Oldest& other) const {
        return last != other.last ? last < other.last : static_cast<int32_t>(seq - other.seq) < 0;
    }
};

class Lifetime {
  public:
    explicit Lifetime(uint64_t idle) : idle_(idle) {
        while (idle >> shift_ >= SLOTS - 2) ++shift_;
    }
    uint64_t idle() const { return idle_; }

    /// The entry at `place`, just used, is now one of these.
    void push(Life& life, uint32_t place) {
        const uint64_t tick = life.last >> shift_;
        if (count_ == 0 && near_.empty()) next_ = std::max(next_, tick);  // nothing waits before it
        if (tick < next_) {
            life.tick = NEAR;
            near_.push_back({life.last, life.seq, place});
            std::push_heap(near_.begin(), near_.end(), later);
        } else {
            life.tick = mark(tick);
            add(slots_[tick % SLOTS], place);
            ++count_;
        }
    }

    /// May any of these be last used at or before `time`?
    bool may_have(uint64_t time) const {
        return (!near_.empty() && near_.front().last <= time) || (count_ != 0 && next_ << shift_ <= time);
    }
    /// The one that was last used longest ago, if that is at or before `time`. `life(place)` is null unless the entry
    /// there, if any, is one of these.
    template <class LifeOf>
    bool oldest(uint64_t time, LifeOf&& life, Oldest& found) {
        for (;;) {
            while (!near_.empty()) {  // these are before all that is in the wheel
                const Oldest front = near_.front();
                if (front.last > time) return false;
                Life* there = life(front.place);
                const bool waits = there != nullptr && there->tick == NEAR && there->seq == front.seq;
                if (waits && there->last == front.last) {
                    found = front;
                    return true;
                }
                pop();
                if (waits) push(*there, front.place);
            }
            if (count_ == 0 || next_ << shift_ > time) return false;
            turn(life);
        }
    }
    /// The one that `oldest` found has ended.
    void pop() {
        std::pop_heap(near_.begin(), near_.end(), later);
        near_.pop_back();
    }

  private:
    static constexpr uint64_t SLOTS = 4096;  ///< ticks: a lifetime has at most two less
    static constexpr uint32_t NEAR = 1;
    /// Places that wait in one slot: a cache line, and more of them.
    struct alignas(64) Chunk {
        uint32_t count, next;
        std::array<uint32_t, 14> places;
    };

    static bool later(const Oldest& a, const Oldest& b) { return b.before(a); }
    static uint32_t mark(uint64_t tick) { return static_cast<uint32_t>(tick) | 0x80000000; }

    void add(uint32_t& slot, uint32_t place) {
        if (slot == 0 || chunks_[slot].count == chunks_[slot].places.size()) {
            uint32_t fresh = free_;
            if (fresh == 0) {
                fresh = static_cast<uint32_t>(chunks_.size());
                chunks_.push_back({});
            } else {
                free_ = chunks_[fresh].next;
            }
            chunks_[fresh].count = 0;
            chunks_[fresh].next = slot;
            slot = fresh;
        }
        Chunk& chunk = chunks_[slot];
        chunk.places[chunk.count++] = place;
    }
    /// The entries of the next tick go where they belong now.
    template <class LifeOf>
    void turn(LifeOf&& life) {
        const uint64_t tick = next_++;
        uint32_t at = slots_[tick % SLOTS];
        slots_[tick % SLOTS] = 0;
        while (at != 0) {
            const Chunk chunk = chunks_[at];
            for (uint32_t i = 0; i < chunk.count; ++i) life.prefetch(chunk.places[i]);
            for (uint32_t i = 0; i < chunk.count; ++i) {
                --count_;
                Life* there = life(chunk.places[i]);
                if (there != nullptr && there->tick == mark(tick)) push(*there, chunk.places[i]);
            }
            chunks_[at].next = free_;
            free_ = at;
            at = chunk.next;
        }
    }

    uint64_t idle_;
    unsigned shift_ = 0;                                          ///< a tick is 2^shift_ ns
    uint64_t next_ = 0;                                           ///< the first tick that was not looked at
    uint64_t count_ = 0;                                          ///< of places in slots
    std::vector<uint32_t> slots_ = std::vector<uint32_t>(SLOTS);  ///< chunks; 0: none
    std::vector<Chunk> chunks_ = std::vector<Chunk>(1);
    uint32_t free_ = 0;
    std::vector<Oldest> near_;  ///< a heap, oldest first: of ticks before next_
};

}  // namespace polysome::bench
