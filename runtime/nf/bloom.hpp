/// `bloom<K>`: was this key added? Never a wrong no, seldom a wrong yes (STATE.md, section 7).
///
/// Bloom, "Space/time trade-offs in hash coding with allowable errors" (CACM 13(7), 1970), method 2.
#pragma once

#include <algorithm>
#include <vector>

#include "nf/archive.hpp"
#include "nf/siphash.hpp"

namespace polysome {

/// `bits` bits, of which a key sets `hashes`. Keys come as the SipHash of their canonical bytes. Every operation but
/// `clear` is O(hashes).
class Bloom {
  public:
    Bloom(uint64_t bits, uint64_t hashes) : bits_(bits), hashes_(hashes), words_((bits + 63) / 64) {}

    /// Asks for the key's bits ahead of `add` or `contains`.
    void prefetch(uint64_t hash) const {
        const uint64_t step = place_step(hash);
        for (uint64_t i = 0; i < hashes_; ++i, hash += step) __builtin_prefetch(&words_[place(hash, bits_) / 64], 1);
    }

    /// From now on the key is in.
    void add(uint64_t hash) {
        const uint64_t step = place_step(hash);
        for (uint64_t i = 0; i < hashes_; ++i, hash += step) {
            const uint64_t bit = place(hash, bits_);
            words_[bit / 64] |= uint64_t{1} << bit % 64;
        }
    }

    bool contains(uint64_t hash) const {
        const uint64_t step = place_step(hash);
        for (uint64_t i = 0; i < hashes_; ++i, hash += step) {
            const uint64_t bit = place(hash, bits_);
            if ((words_[bit / 64] >> bit % 64 & 1) == 0) return false;
        }
        return true;
    }

    /// Forgets everything. O(bits).
    void clear() { std::fill(words_.begin(), words_.end(), 0); }

    size_t memory() const { return words_.size() * sizeof(uint64_t); }

    /// To one of the same size.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(bits_);
        archive.same(hashes_);
        archive.raw(words_.data(), memory());
    }

  private:
    uint64_t bits_, hashes_;
    std::vector<uint64_t> words_;
};

}  // namespace polysome
