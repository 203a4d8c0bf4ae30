/// `bloom<K>`: was this key added? Never a wrong no, seldom a wrong yes (STATE.md, section 7).
///
/// Bloom, "Space/time trade-offs in hash coding with allowable errors" (CACM 13(7), 1970), method 2.
#pragma once

#include <algorithm>

#include "nf/archive.hpp"
#include "nf/memory.hpp"
#include "nf/siphash.hpp"

namespace polysome {

/// `bits` bits, of which a key sets `hashes`. Keys come as the SipHash of their canonical bytes. Every operation but
/// `clear` is O(hashes).
class Bloom {
  public:
    Bloom(uint64_t bits, uint64_t hashes) : bits_(bits), hashes_(hashes), words_((bits + 63) / 64) {}

    /// Asks for the key's bits ahead of `add` or `contains`.
    void prefetch(uint64_t hash) const {
        if (memory() <= always_near) return;
        each(*this, hash, [](const uint64_t& word, uint64_t) { __builtin_prefetch(&word, 1); });
    }

    /// From now on the key is in.
    void add(uint64_t hash) {
        each(*this, hash, [](uint64_t& word, uint64_t bit) { word |= bit; });
    }

    bool contains(uint64_t hash) const {
        uint64_t missing = 0;  // no branch: what is in is hard to foresee
        each(*this, hash, [&](const uint64_t& word, uint64_t bit) { missing |= bit & ~word; });
        return missing == 0;
    }

    /// Forgets everything. O(bits).
    void clear() { std::fill_n(words_.data(), words_.size(), 0); }

    size_t memory() const { return words_.bytes(); }

    /// To one of the same size.
    template <class Archive>
    void carry(Archive& archive) {
        archive.same(bits_);
        archive.same(hashes_);
        archive.raw(words_.data(), memory());
    }

  private:
    /// Calls `use` with each of the hash's bits and the word that has it.
    template <class Self, class Use>
    [[gnu::always_inline]] static void each(Self& self, uint64_t hash, Use use) {
        auto* const words = self.words_.data();
        each_place(hash, self.hashes_, self.bits_, [&](uint64_t, uint64_t bit) __attribute__((always_inline)) {
            use(words[bit / 64], uint64_t{1} << bit % 64);
        });
    }

    uint64_t bits_, hashes_;
    MappedArray<uint64_t> words_;
};

}  // namespace polysome
