/// Where a key is in a table that is replaced as a whole.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "nf/flow_map/table.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Can KeyIndex find keys of this type? The numbers and addresses of the language.
template <class K>
inline constexpr bool indexable = std::unsigned_integral<K> || std::is_same_v<K, u128>;

/// The places of different keys. `find` is O(1) on average and asks hardly any question whose answer is not nearly
/// always the same; keys are an operator's, not a sender's, so the hash is not keyed.
template <class K>
    requires indexable<K>
class KeyIndex {
  public:
    static constexpr uint32_t absent = EntryTable::none;

    KeyIndex() {
        build(0, [](uint32_t) { return K{}; });
    }

    /// `key(i)` is the key at place i, from 0 to `size`, which is less than 2^31.
    template <class Key>
    void build(uint32_t size, Key key) {
        table_ = std::make_unique<EntryTable>(size);
        keys_.resize(size);
        for (uint32_t i = 0; i < size; ++i) {
            keys_[i] = key(i);
            table_->insert(hash(keys_[i]), i);
        }
    }

    /// The place of a key, or `absent`.
    uint32_t find(K key) const {
        return table_->find(hash(key), [&](uint32_t i) { return keys_[i] == key; });
    }

  private:
    static uint64_t hash(K key) {
        auto word = static_cast<uint64_t>(key);
        if constexpr (sizeof(K) > 8) word ^= static_cast<uint64_t>(key >> 64) * 0x9e3779b97f4a7c15;
        return fold(word ^ 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93);
    }

    std::unique_ptr<EntryTable> table_;
    std::vector<K> keys_;
};

}  // namespace polysome
