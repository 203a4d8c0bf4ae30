/// Output ports that send one packet at a time at `serve` bit/s (SCHEDULE.md P7), whatever the order; and the four
/// orders: arrival (P3.2), priority (P8), deadline (P9), deficit round robin (P10). What waits: waiting.hpp.
#pragma once

#include "nf/policy/waiting.hpp"

namespace polysome {

/// Non-preemptive, work-conserving service of all ports. O(log ports) a packet beside the order's own.
///
/// `Order` is one port's queue, over the waiting packets W of all ports:
///   static constexpr bool by_class;                  // does it need classes, or only `queue` and `classes` do?
///   void push(W&, uint32_t item, uint64_t now);
///   uint32_t pop(W&);                                // the packet to send next; only called if one waits
///   void carry(Archive&);                            // nf/archive.hpp
template <class Key, class Order>
class Link {
  public:
    static constexpr bool immediate = false;

    explicit Link(const Settings& settings)
        : settings_(settings),
          rate_(settings.serve),
          waiting_(Order::by_class || settings.queue != Settings::not_given ||
                   settings.classes != Settings::not_given) {}

    template <class Host>
    void offer(const Item<Key>& item, uint64_t now, Host& host) {
        Port& port = ports_[item.port];
        const u128 start = static_cast<u128>(now) * rate_;
        if (port.free <= start) {  // so nothing waits: that would have been due, and run
            port.free = start + units(item.size);
            return host.leave(item.packet, item.port, now);
        }
        const uint32_t cls = waiting_.find(item);
        if (const uint16_t reason = refusal(item, cls); reason != 0) return host.refuse(item.packet, reason);
        if (port.waiting == 0) {
            due_.push_back({ceil_div(port.free, rate_), item.port});
            std::push_heap(due_.begin(), due_.end(), later);
        }
        ++port.waiting;
        port.order.push(waiting_, waiting_.add(item, cls), now);
        buffered_ += item.size;
    }

    u128 next_due() const { return due_.empty() ? not_due : due_.front().time; }

    template <class Host>
    void run_due(Host& host) {
        if (due_.empty()) return;
        const u128 now = due_.front().time;
        while (!due_.empty() && due_.front().time == now) {
            std::pop_heap(due_.begin(), due_.end(), later);
            const uint16_t number = due_.back().port;
            Port& port = ports_[number];
            const uint32_t i = port.order.pop(waiting_);
            const uint32_t packet = waiting_[i].packet;
            // The exact end of the previous packet, not `now`, which is that rounded up: no drift (P7.4).
            port.free += units(waiting_[i].size);
            buffered_ -= waiting_[i].size;
            waiting_.remove(i);
            if (--port.waiting != 0) {
                due_.back().time = ceil_div(port.free, rate_);
                std::push_heap(due_.begin(), due_.end(), later);
            } else {
                due_.pop_back();
            }
            host.leave(packet, number, static_cast<uint64_t>(now));
        }
    }

    size_t held() const { return waiting_.size(); }

    template <class Archive>
    void carry(Archive& archive) {
        archive(ports_, due_, waiting_, buffered_);
    }

  private:
    /// `free`: the exact end of the packet being sent, in 10^-9 bit (ns x rate).
    struct Port {
        u128 free = 0;
        uint64_t waiting = 0;
        Order order;

        template <class Archive>
        void carry(Archive& archive) {
            archive(free, waiting, order);
        }
    };
    /// A port with packets waiting.
    struct Due {
        u128 time;
        uint16_t port;

        template <class Archive>
        void carry(Archive& archive) {
            archive(time, port);
        }
    };

    static bool later(const Due& a, const Due& b) { return a.time != b.time ? a.time > b.time : a.port > b.port; }
    static u128 units(uint32_t size) { return static_cast<u128>(size) * 8'000'000'000; }

    /// Why the packet may not wait, or 0.
    uint16_t refusal(const Item<Key>& item, uint32_t cls) const {
        const bool fresh = cls == waiting_.absent;
        if (fresh && settings_.classes != Settings::not_given && waiting_.classes() >= settings_.classes) {
            return refused_class;
        }
        return no_room(settings_, item.size, fresh ? 0 : waiting_.bytes(cls), buffered_);
    }

    Settings settings_;
    uint64_t rate_;
    std::array<Port, 64> ports_;
    std::vector<Due> due_;  ///< a heap
    Waiting<Key> waiting_;
    uint64_t buffered_ = 0;
};

/// Arrival order. O(1) a packet.
template <class Key>
class FifoOrder {
  public:
    static constexpr bool by_class = false;

    void push(Waiting<Key>& waiting, uint32_t item, uint64_t) {
        (last_ == waiting.none ? first_ : waiting[last_].beside) = item;
        last_ = item;
    }
    uint32_t pop(Waiting<Key>& waiting) {
        const uint32_t item = first_;
        first_ = waiting[item].beside;
        if (first_ == waiting.none) last_ = waiting.none;
        return item;
    }
    template <class Archive>
    void carry(Archive& archive) {
        archive(first_, last_);
    }

  private:
    uint32_t first_ = Waiting<Key>::none;
    uint32_t last_ = Waiting<Key>::none;
};

/// The least rank among the first of each class, among equals the first to arrive. O(log classes) a packet.
///
/// Only the first of a class competes, so a class keeps its order whatever the ranks within it are.
template <class Key, class Rank>
class HeadsOrder {
  public:
    static constexpr bool by_class = true;

    void push(Waiting<Key>& waiting, uint32_t item, uint64_t now) {
        waiting[item].value = Rank::of(waiting[item].value, now);
        if (waiting.first(waiting[item].cls) == item) enter(waiting, item);
    }
    uint32_t pop(Waiting<Key>& waiting) {
        std::pop_heap(heads_.begin(), heads_.end(), later);
        const uint32_t item = heads_.back().item;
        heads_.pop_back();
        if (const uint32_t next = waiting[item].next; next != waiting.none) enter(waiting, next);
        return item;
    }
    template <class Archive>
    void carry(Archive& archive) {
        archive(heads_);
    }

  private:
    struct Head {
        uint64_t rank;
        uint64_t order;
        uint32_t item;

        template <class Archive>
        void carry(Archive& archive) {
            archive(rank, order, item);
        }
    };

    static bool later(const Head& a, const Head& b) { return a.rank != b.rank ? a.rank > b.rank : a.order > b.order; }

    void enter(const Waiting<Key>& waiting, uint32_t item) {
        heads_.push_back({waiting[item].value, waiting[item].order, item});
        std::push_heap(heads_.begin(), heads_.end(), later);
    }

    std::vector<Head> heads_;  ///< a heap
};

/// P8.1: the largest value first.
struct LargestFirst {
    static uint64_t of(uint64_t value, uint64_t) { return ~value; }
};

/// P9.1: the deadline, as a time that stops at its largest value.
struct EarliestDeadline {
    static uint64_t of(uint64_t value, uint64_t now) { return value > ~now ? ~uint64_t{0} : now + value; }
};

/// Deficit round robin: M. Shreedhar and G. Varghese, SIGCOMM 1995, with an active list.
///
/// O(1) a packet as long as packets are no longer than a quantum; a longer one takes size / quantum rounds.
template <class Key>
class DrrOrder {
  public:
    static constexpr bool by_class = true;

    void push(Waiting<Key>& waiting, uint32_t item, uint64_t) {
        const uint32_t cls = waiting[item].cls;
        if (waiting.first(cls) != item) return;
        waiting.turn(cls).deficit = 0;
        join(waiting, cls);
    }
    uint32_t pop(Waiting<Key>& waiting) {
        while (true) {
            const uint32_t cls = first_;
            const uint32_t item = waiting.first(cls);
            Turn& turn = waiting.turn(cls);
            if (!visiting_) {
                visiting_ = true;
                turn.deficit += quantum(waiting[item].value);
            }
            if (waiting[item].size <= turn.deficit) {
                turn.deficit -= waiting[item].size;
                if (waiting[item].next == waiting.none) quit(waiting);  // what is left of the deficit is lost
                return item;
            }
            quit(waiting);
            join(waiting, cls);
        }
    }
    template <class Archive>
    void carry(Archive& archive) {
        archive(first_, last_, visiting_);
    }

  private:
    static uint64_t quantum(uint64_t weight) {
        return full_frame * std::clamp<uint64_t>(weight, 1, std::numeric_limits<uint32_t>::max());
    }

    void join(Waiting<Key>& waiting, uint32_t cls) {
        waiting.turn(cls).after = waiting.none;
        (last_ == waiting.none ? first_ : waiting.turn(last_).after) = cls;
        last_ = cls;
    }
    /// The first class leaves the round; its visit is over.
    void quit(Waiting<Key>& waiting) {
        first_ = waiting.turn(first_).after;
        if (first_ == waiting.none) last_ = waiting.none;
        visiting_ = false;
    }

    uint32_t first_ = Waiting<Key>::none;  ///< of the round
    uint32_t last_ = Waiting<Key>::none;
    bool visiting_ = false;  ///< the first
};

template <class Key>
using ServedFifo = Link<Key, FifoOrder<Key>>;
template <class Key>
using Priority = Link<Key, HeadsOrder<Key, LargestFirst>>;
template <class Key>
using Deadline = Link<Key, HeadsOrder<Key, EarliestDeadline>>;
template <class Key>
using Drr = Link<Key, DrrOrder<Key>>;

}  // namespace polysome
