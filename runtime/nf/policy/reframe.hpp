/// `reframe W, N`: one buffer that groups packets by class (SCHEDULE.md P6).
///
/// After Reframer: H. Ghasemirahni et al., "Packet Order Matters!", NSDI 2022.
#pragma once

#include "nf/policy/base.hpp"
#include "nf/policy/class_index.hpp"

namespace polysome {

/// Holds up to `count` packets for up to `window` ns, then lets all go, class by class. O(1) a packet.
template <class Key>
class Reframe {
  public:
    static constexpr bool immediate = false;

    explicit Reframe(const Settings& settings) : window_(settings.window), limit_(settings.count) {}

    template <class Host>
    void offer(const Item<Key>& item, uint64_t now, Host& host) {
        if (items_.empty()) due_ = static_cast<u128>(now) + window_;
        const auto number = static_cast<uint32_t>(items_.size());
        items_.push_back({item.packet, none, item.port});
        const uint32_t found = index_.find(item.cls);
        if (found != index_.absent) {
            Group& group = groups_[of_slot_[found]];
            items_[group.last].next = number;
            group.last = number;
        } else {
            const uint32_t slot = index_.insert(item.cls);
            if (slot == of_slot_.size()) of_slot_.emplace_back();
            of_slot_[slot] = static_cast<uint32_t>(groups_.size());
            groups_.push_back({slot, number, number});
        }
        if (items_.size() == limit_) empty(now, host);
    }

    u128 next_due() const { return items_.empty() ? not_due : due_; }

    template <class Host>
    void run_due(Host& host) {
        if (!items_.empty()) empty(static_cast<uint64_t>(due_), host);
    }

    size_t held() const { return items_.size(); }

    template <class Archive>
    void carry(Archive& archive) {
        archive(due_, index_, of_slot_, groups_, items_);
    }

  private:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    struct Waiting {
        uint32_t packet;
        uint32_t next;  ///< of its class
        uint16_t port;

        template <class Archive>
        void carry(Archive& archive) {
            archive(packet, next, port);
        }
    };
    struct Group {
        uint32_t slot;
        uint32_t first;
        uint32_t last;

        template <class Archive>
        void carry(Archive& archive) {
            archive(slot, first, last);
        }
    };

    template <class Host>
    void empty(uint64_t now, Host& host) {
        for (const Group& group : groups_) {
            index_.erase(group.slot);
            for (uint32_t i = group.first; i != none; i = items_[i].next) {
                host.leave(items_[i].packet, items_[i].port, now);
            }
        }
        groups_.clear();
        items_.clear();
    }

    uint64_t window_;
    uint64_t limit_;
    u128 due_ = not_due;
    ClassIndex<Key> index_;
    std::vector<uint32_t> of_slot_;  ///< a class's place in groups_
    std::vector<Group> groups_;      ///< in order of each class's first arrival
    std::vector<Waiting> items_;
};

}  // namespace polysome
