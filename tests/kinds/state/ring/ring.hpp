/// `ring<V> { room n; }`: the last n values.
#pragma once

#include <algorithm>
#include <vector>

#include "nf/archive.hpp"

namespace polysome {

/// The last `room` values, which are arrays of words. `contains` is O(room), the rest O(1).
template <class Value>
class Ring {
  public:
    explicit Ring(uint64_t room) : room_(room) {}

    /// One more; the oldest goes if there is no room.
    void push(const Value& value) {
        if (values_.size() < room_) {
            values_.push_back(value);
            return;
        }
        values_[oldest_] = value;
        oldest_ = (oldest_ + 1) % room_;
    }

    /// How many are there.
    uint64_t held() const { return values_.size(); }

    bool contains(const Value& value) const {
        return std::find(values_.begin(), values_.end(), value) != values_.end();
    }

    /// Forgets everything.
    void clear() {
        values_.clear();
        oldest_ = 0;
    }

    /// To an empty one with as much room.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(room_);
        archive(oldest_, values_);
    }

  private:
    uint64_t room_;
    uint64_t oldest_ = 0;  ///< its place, once there is no room left
    std::vector<Value> values_;
};

}  // namespace polysome
