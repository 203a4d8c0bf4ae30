/// The classes that police and shape keep a bucket for: at most N, forgotten when idle (SCHEDULE.md P2).
#pragma once

#include "nf/policy/base.hpp"
#include "nf/policy/class_index.hpp"
#include "nf/token_bucket.hpp"

namespace polysome {

/// At most `classes` classes. Expiry is lazy in work and exact in effect, because `now` never runs back.
///
/// O(1) a call; an eviction costs as many steps as classes were last used at the same instant. A class is 64 bytes and
/// its key, and 8 to 16 bytes of index.
template <class Key>
class Classes {
  public:
    static constexpr uint32_t absent = ClassIndex<Key>::absent;

    explicit Classes(const Settings& settings)
        : limit_(settings.classes), idle_(settings.idle), evicts_(settings.when_full == WhenFull::evict) {}

    Bucket& bucket(uint32_t cls) { return all_[cls].bucket; }
    /// Bytes it holds.
    uint64_t held(uint32_t cls) const { return all_[cls].held; }

    /// The class after this use of it, made if there is none; `absent` if it finds no room (P2.1 to P2.5).
    uint32_t use(const Key& key, uint64_t now) {
        while (first_ != absent && static_cast<u128>(all_[first_].used) + idle_ <= now) forget(first_);
        uint32_t cls = index_.find(key);
        if (cls != absent) {
            if (all_[cls].held == 0 && cls != last_) {
                unlink(cls);
                link(cls);
            }
        } else {
            if (index_.size() >= limit_ && !evict()) return absent;
            cls = index_.insert(key);
            if (cls == all_.size()) all_.emplace_back();
            all_[cls] = Class{};
            all_[cls].made = made_++;
            link(cls);
        }
        all_[cls].used = now;
        return cls;
    }

    /// The class holds `size` bytes more, and so cannot be forgotten.
    void hold(uint32_t cls, uint64_t size) {
        if (all_[cls].held == 0) unlink(cls);
        all_[cls].held += size;
    }

    /// A held packet leaves: a use of its class.
    void release(uint32_t cls, uint64_t size, uint64_t now) {
        all_[cls].held -= size;
        if (all_[cls].held != 0) return;
        all_[cls].used = now;
        link(cls);
    }

    template <class Archive>
    void carry(Archive& archive) {
        archive(made_, first_, last_, index_, all_);
    }

  private:
    /// Those that hold nothing form a list, by last use.
    struct Class {
        Bucket bucket;
        uint64_t held = 0;
        uint64_t made = 0;
        uint64_t used = 0;
        uint32_t before = absent;
        uint32_t after = absent;

        template <class Archive>
        void carry(Archive& archive) {
            archive(bucket, held, made, used, before, after);
        }
    };

    bool evict() {
        if (!evicts_ || first_ == absent) return false;
        uint32_t oldest = first_;
        for (uint32_t c = all_[first_].after; c != absent && all_[c].used == all_[first_].used; c = all_[c].after) {
            if (all_[c].made < all_[oldest].made) oldest = c;
        }
        forget(oldest);
        return true;
    }

    void forget(uint32_t cls) {
        unlink(cls);
        index_.erase(cls);
    }

    void link(uint32_t cls) {
        all_[cls].before = last_;
        all_[cls].after = absent;
        (last_ == absent ? first_ : all_[last_].after) = cls;
        last_ = cls;
    }
    void unlink(uint32_t cls) {
        const Class& c = all_[cls];
        (c.before == absent ? first_ : all_[c.before].after) = c.after;
        (c.after == absent ? last_ : all_[c.after].before) = c.before;
    }

    uint64_t limit_;
    uint64_t idle_;
    bool evicts_;
    uint64_t made_ = 0;
    uint32_t first_ = absent;  ///< used longest ago
    uint32_t last_ = absent;
    ClassIndex<Key> index_;
    std::vector<Class> all_;  ///< by slot
};

}  // namespace polysome
