/// Where a key is in a table that is replaced as a whole.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// Can KeyIndex find keys of this type? The numbers and addresses of the language.
template <class K>
inline constexpr bool indexable = std::unsigned_integral<K> || std::is_same_v<K, u128>;

/// The places of different keys: open addressing, half of it free. `find` is O(1) on average; keys are an operator's,
/// not a sender's, so the hash is not keyed.
template <class K>
    requires indexable<K>
class KeyIndex {
  public:
    static constexpr uint32_t absent = UINT32_MAX;

    /// `key(i)` is the key at place i, from 0 to `size`, which is less than 2^31.
    template <class Key>
    void build(uint32_t size, Key key) {
        slots_.assign(std::bit_ceil(uint64_t{size} * 2 + 1), {K{}, absent});
        for (uint32_t i = 0; i < size; ++i) {
            size_t at = start(key(i));
            while (slots_[at].place != absent) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = {key(i), i};
        }
    }

    /// The place of a key, or `absent`.
    uint32_t find(K key) const {
        for (size_t at = start(key);; at = (at + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[at];
            if (slot.place == absent || slot.key == key) return slot.place;
        }
    }

  private:
    struct Slot {
        K key;
        uint32_t place;
    };

    size_t start(K key) const {
        auto word = static_cast<uint64_t>(key);
        if constexpr (sizeof(K) > 8) word ^= static_cast<uint64_t>(key >> 64) * 0x9e3779b97f4a7c15;
        return fold(word ^ 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93) & (slots_.size() - 1);
    }

    std::vector<Slot> slots_ = {{K{}, absent}};
};

}  // namespace polysome
