/// `police R, B`: what exceeds the class's rate is dropped (SCHEDULE.md P4).
#pragma once

#include "nf/policy/classes.hpp"

namespace polysome {

/// A token bucket per class; nothing is ever held. O(1) a packet.
template <class Key>
class Police {
  public:
    static constexpr bool immediate = false;

    explicit Police(const Settings& settings)
        : classes_(settings), passes_(settings.when_full == WhenFull::pass), packets_(settings.packets) {}

    template <class Host>
    void offer(const Item<Key>& item, uint64_t now, Host& host) {
        const uint32_t cls = classes_.use(item.cls, now);
        if (cls == classes_.absent) {
            return passes_ ? host.leave(item.packet, item.port, now) : host.refuse(item.packet, refused_class);
        }
        const bool conforms = bucket_take(classes_.bucket(cls), now, packets_ ? 1 : item.size, item.args[0],
                                          item.args[1], packets_ ? tokens_per_packet : tokens_per_byte);
        return conforms ? host.leave(item.packet, item.port, now) : host.refuse(item.packet, refused_policed);
    }
    u128 next_due() const { return not_due; }
    template <class Host>
    void run_due(Host&) {}
    size_t held() const { return 0; }
    template <class Archive>
    void carry(Archive& archive) {
        archive(classes_);
    }

  private:
    Classes<Key> classes_;
    bool passes_;
    bool packets_;
};

}  // namespace polysome
