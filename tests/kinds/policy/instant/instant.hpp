/// `instant;`: every packet leaves as it arrives.
#pragma once

#include "nf/policy/base.hpp"

namespace polysome {

template <class Key>
class Instant {
  public:
    static constexpr bool immediate = true;

    explicit Instant(const Settings&) {}

    template <class Host>
    void offer(const Item<Key>& item, uint64_t now, Host& host) {
        host.leave(item.packet, item.port, now);
    }
    u128 next_due() const { return not_due; }
    template <class Host>
    void run_due(Host&) {}
    size_t held() const { return 0; }
    template <class Archive>
    void carry(Archive&) {}
};

}  // namespace polysome
