/// What waits for a port to be free: the packets, and the classes of which some wait, over all ports.
#pragma once

#include "nf/policy/base.hpp"
#include "nf/policy/class_index.hpp"

namespace polysome {

/// A class's place in a round (drr): its deficit in bytes, and the class after it.
struct Turn {
    uint64_t deficit = 0;
    uint32_t after = 0;

    template <class Archive>
    void carry(Archive& archive) {
        archive(deficit, after);
    }
};

/// The waiting packets. A class here is a (port, class) pair; it exists while something of it waits, and lists its
/// packets by arrival. O(1) a call. A packet is 48 bytes, a class 48 and its key.
template <class Key>
class Waiting {
  public:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
    static constexpr uint32_t absent = none;

    /// `value`: the first of the policy's values, which an order may replace by a rank. `next`: of its class;
    /// `beside`: of its port, for an order that goes by that.
    struct Packet {
        uint64_t value;
        uint64_t order;
        uint32_t packet;
        uint32_t size;
        uint32_t cls;
        uint32_t next;
        uint32_t beside;

        template <class Archive>
        void carry(Archive& archive) {
            archive(value, order, packet, size, cls, next, beside);
        }
    };

    explicit Waiting(bool by_class) : by_class_(by_class) {}

    Packet& operator[](uint32_t item) { return packets_[item]; }
    const Packet& operator[](uint32_t item) const { return packets_[item]; }
    size_t size() const { return packets_.size(); }

    size_t classes() const { return index_.size(); }
    uint64_t bytes(uint32_t cls) const { return classes_[cls].bytes; }
    uint32_t first(uint32_t cls) const { return classes_[cls].first; }
    Turn& turn(uint32_t cls) { return classes_[cls].turn; }

    /// The class of a packet, or `absent`; always that if classes do not matter.
    uint32_t find(const Item<Key>& item) const { return by_class_ ? index_.find(key(item)) : absent; }

    /// The packet waits; `cls` is what `find` says.
    uint32_t add(const Item<Key>& item, uint32_t cls) {
        const uint32_t number = packets_.add({item.args[0], item.order, item.packet, item.size, cls, none, none});
        if (!by_class_) return number;
        if (cls == absent) {
            cls = index_.insert(key(item));
            if (cls == classes_.size()) classes_.emplace_back();
            classes_[cls] = {.first = number, .last = number, .bytes = 0, .turn = {}};
            packets_[number].cls = cls;
        } else {
            packets_[classes_[cls].last].next = number;
            classes_[cls].last = number;
        }
        classes_[cls].bytes += item.size;
        return number;
    }

    /// The packet, the first of its class, waits no longer.
    void remove(uint32_t number) {
        if (by_class_) {
            Class& cls = classes_[packets_[number].cls];
            cls.bytes -= packets_[number].size;
            cls.first = packets_[number].next;
            if (cls.first == none) index_.erase(packets_[number].cls);
        }
        packets_.remove(number);
    }

    template <class Archive>
    void carry(Archive& archive) {
        archive(packets_, index_, classes_);
    }

  private:
    static constexpr size_t words = std::tuple_size_v<Key>;
    using PortKey = std::array<uint64_t, words + 1>;

    struct Class {
        uint32_t first;
        uint32_t last;
        uint64_t bytes;
        Turn turn;

        template <class Archive>
        void carry(Archive& archive) {
            archive(first, last, bytes, turn);
        }
    };

    static PortKey key(const Item<Key>& item) {
        PortKey k;
        std::copy(item.cls.begin(), item.cls.end(), k.begin());
        k[words] = item.port;
        return k;
    }

    bool by_class_;
    Slab<Packet> packets_;
    ClassIndex<PortKey> index_;
    std::vector<Class> classes_;  ///< by slot
};

}  // namespace polysome
