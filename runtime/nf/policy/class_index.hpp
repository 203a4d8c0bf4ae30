/// From a class's key to its slot: the hash table under all policies that keep something per class.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "nf/archive.hpp"
#include "nf/types.hpp"

namespace polysome {

/// A growing set of keys, each with a slot: a number below the most keys there ever were at once. Slots are reused.
///
/// Open addressing with linear probing, at most half full; O(1) a call, amortized where it grows. The hash is seeded
/// by the system's randomness, so that nobody can choose keys that collide; no result depends on it.
template <class Key>
class ClassIndex {
  public:
    static constexpr uint32_t absent = std::numeric_limits<uint32_t>::max();

    ClassIndex() : cells_(64, absent) {
        if (getentropy(&seed_, sizeof seed_) != 0) std::abort();  // not for 8 bytes
    }

    size_t size() const { return size_; }
    const Key& key(uint32_t slot) const { return keys_[slot]; }

    uint32_t find(const Key& key) const {
        for (size_t i = home(key);; i = next(i)) {
            if (cells_[i] == absent || keys_[cells_[i]] == key) return cells_[i];
        }
    }

    /// A slot for a key that is not there. At most one more than all slots given before.
    uint32_t insert(const Key& key) {
        if (2 * (size_ + 1) > cells_.size()) grow();
        uint32_t slot;
        if (free_.empty()) {
            slot = static_cast<uint32_t>(keys_.size());
            keys_.push_back(key);
        } else {
            slot = free_.back();
            free_.pop_back();
            keys_[slot] = key;
        }
        place(slot);
        ++size_;
        return slot;
    }

    void erase(uint32_t slot) {
        size_t hole = home(keys_[slot]);
        while (cells_[hole] != slot) hole = next(hole);
        // Later cells move up as long as they stay at or behind their homes: no marks of deletion, no decay.
        for (size_t i = next(hole); cells_[i] != absent; i = next(i)) {
            const size_t from_home = (i - home(keys_[cells_[i]])) & (cells_.size() - 1);
            if (from_home < ((i - hole) & (cells_.size() - 1))) continue;
            cells_[hole] = cells_[i];
            hole = i;
        }
        cells_[hole] = absent;
        free_.push_back(slot);
        --size_;
    }

    template <class Archive>
    void carry(Archive& archive) {
        archive(seed_, size_, cells_, keys_, free_);
    }

  private:
    size_t home(const Key& key) const { return hash_words(key, seed_) & (cells_.size() - 1); }
    size_t next(size_t i) const { return (i + 1) & (cells_.size() - 1); }

    void place(uint32_t slot) {
        size_t i = home(keys_[slot]);
        while (cells_[i] != absent) i = next(i);
        cells_[i] = slot;
    }

    void grow() {
        std::vector<uint32_t> old(cells_.size() * 2, absent);
        old.swap(cells_);
        for (const uint32_t slot : old) {
            if (slot != absent) place(slot);
        }
    }

    uint64_t seed_;
    size_t size_ = 0;
    std::vector<uint32_t> cells_;
    std::vector<Key> keys_;
    std::vector<uint32_t> free_;
};

/// Records with numbers, reused: no heap allocation once there are enough. O(1) a call.
template <class T>
class Slab {
  public:
    uint32_t add(const T& value) {
        if (free_.empty()) {
            all_.push_back(value);
            return static_cast<uint32_t>(all_.size() - 1);
        }
        const uint32_t number = free_.back();
        free_.pop_back();
        all_[number] = value;
        return number;
    }
    void remove(uint32_t number) { free_.push_back(number); }
    T& operator[](uint32_t number) { return all_[number]; }
    const T& operator[](uint32_t number) const { return all_[number]; }
    size_t size() const { return all_.size() - free_.size(); }

    template <class Archive>
    void carry(Archive& archive) {
        archive(all_, free_);
    }

  private:
    std::vector<T> all_;
    std::vector<uint32_t> free_;
};

}  // namespace polysome
