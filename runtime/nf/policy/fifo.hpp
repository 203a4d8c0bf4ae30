/// `fifo` without `serve`: every packet leaves at its arrival (SCHEDULE.md P3.1). With `serve`: link.hpp.
#pragma once

#include "nf/policy/base.hpp"

namespace polysome {

template <class Key>
class Fifo {
  public:
    static constexpr bool immediate = true;

    explicit Fifo(const Settings&) {}

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
