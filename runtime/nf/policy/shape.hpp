/// `shape R, B`: what exceeds the class's rate waits (SCHEDULE.md P5).
#pragma once

#include "nf/policy/classes.hpp"

namespace polysome {

/// A token bucket per class, and one heap of what is held: every packet's time to leave is known at its arrival.
///
/// Within a class these times never fall, so the heap, by (time, arrival), keeps its order. O(log held) a packet.
template <class Key>
class Shape {
  public:
    static constexpr bool immediate = false;

    explicit Shape(const Settings& settings) : settings_(settings), classes_(settings) {}

    template <class Host>
    void offer(const Item<Key>& item, uint64_t now, Host& host) {
        const uint32_t cls = classes_.use(item.cls, now);
        if (cls == classes_.absent) {
            return settings_.when_full == WhenFull::pass ? host.leave(item.packet, item.port, now)
                                                         : host.refuse(item.packet, refused_class);
        }
        const uint64_t rate = item.args[0], burst = item.args[1], n = settings_.packets ? 1 : item.size;
        const uint64_t scale = settings_.packets ? tokens_per_packet : tokens_per_byte;
        Bucket& bucket = classes_.bucket(cls);
        const u128 at = ready(bucket, now, n, rate, burst, scale);
        if (at > latest) return host.refuse(item.packet, n > burst ? refused_burst : refused_rate);
        const auto time = static_cast<uint64_t>(at);
        if (time > now) {
            const uint16_t reason = no_room(settings_, item.size, classes_.held(cls), buffered_);
            if (reason != 0) return host.refuse(item.packet, reason);
        }
        bucket_take(bucket, time, n, rate, burst, scale);
        if (time == now) return host.leave(item.packet, item.port, now);
        classes_.hold(cls, item.size);
        buffered_ += item.size;
        heap_.push_back({time, number_++, item.packet, cls, item.size, item.port});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    u128 next_due() const { return heap_.empty() ? not_due : heap_.front().time; }

    template <class Host>
    void run_due(Host& host) {
        if (heap_.empty()) return;
        const uint64_t now = heap_.front().time;
        while (!heap_.empty() && heap_.front().time == now) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            const Waiting item = heap_.back();
            heap_.pop_back();
            buffered_ -= item.size;
            classes_.release(item.cls, item.size, now);
            host.leave(item.packet, item.port, now);
        }
    }

    size_t held() const { return heap_.size(); }

    template <class Archive>
    void carry(Archive& archive) {
        archive(classes_, heap_, buffered_, number_);
    }

  private:
    static constexpr uint64_t latest = ~uint64_t{0};  // P5.5

    struct Waiting {
        uint64_t time;
        uint64_t number;  ///< of what was ever held: breaks ties, also between copies of one packet
        uint32_t packet;
        uint32_t cls;
        uint32_t size;
        uint16_t port;

        template <class Archive>
        void carry(Archive& archive) {
            archive(time, number, packet, cls, size, port);
        }
    };

    static bool later(const Waiting& a, const Waiting& b) {
        return a.time != b.time ? a.time > b.time : a.number > b.number;
    }

    /// The first ns, at or after `now` and the last leaving that is settled, at which the bucket has `n`; above
    /// `latest` if none is.
    static u128 ready(const Bucket& bucket, uint64_t now, uint64_t n, uint64_t rate, uint64_t burst, uint64_t scale) {
        const uint64_t start = std::max(now, bucket.last);
        const BucketLook look =
            bucket_look(bucket, start, static_cast<u128>(n) * scale, rate, static_cast<u128>(burst) * scale);
        if (look.enough) return start;
        return n > burst || rate == 0 ? not_due : start + ceil_div(look.left, rate);
    }

    Settings settings_;
    Classes<Key> classes_;
    std::vector<Waiting> heap_;
    uint64_t buffered_ = 0;
    uint64_t number_ = 0;
};

}  // namespace polysome
