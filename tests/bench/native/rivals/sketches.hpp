/// The sketches of telemetry, as the manual defines them (compiler/polysome/kinds/state): what is sent depends on each
/// bit of their hash. SipHash-2-4 is taken of eight keys at once, which a vector of 64-bit lanes is made for.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "table.hpp"

namespace polysome::bench {

/// Eight lanes.
using Lanes = uint64_t __attribute__((vector_size(64)));

/// SipHash-2-4 under key 0, of the words that are absorbed; the last one has the size in its highest byte.
class SipLanes {
  public:
    void absorb(Lanes word) {
        v3_ ^= word;
        round();
        round();
        v0_ ^= word;
    }
    Lanes finish() {
        v2_ ^= 0xff;
        for (int i = 0; i < 4; ++i) round();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

  private:
    static Lanes rotate(Lanes x, int by) { return x << by | x >> (64 - by); }
    void round() {
        v0_ += v1_, v2_ += v3_;
        v1_ = rotate(v1_, 13) ^ v0_, v3_ = rotate(v3_, 16) ^ v2_;
        v0_ = rotate(v0_, 32);
        v2_ += v1_, v0_ += v3_;
        v1_ = rotate(v1_, 17) ^ v2_, v3_ = rotate(v3_, 21) ^ v0_;
        v2_ = rotate(v2_, 32);
    }

    Lanes v0_ = Lanes{} + 0x736f6d6570736575, v1_ = Lanes{} + 0x646f72616e646f6d;
    Lanes v2_ = Lanes{} + 0x6c7967656e657261, v3_ = Lanes{} + 0x7465646279746573;
};

/// A hash, and the places it means: S5.5.
struct Hash {
    uint64_t first, step;

    explicit Hash(uint64_t hash) : first(hash), step(std::rotl(hash, 32) | 1) {}
    uint64_t place(uint64_t i, uint64_t size) const {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(first + i * step) * size >> 64);
    }
};

/// Error 0.1 %, confidence 99 %.
class CountMin {
  public:
    void add(const Hash& h, uint64_t n) {
        for (uint64_t i = 0; i < ROWS; ++i) counts_[i * WIDTH + h.place(i, WIDTH)] += n;
    }
    uint64_t estimate(const Hash& h) const {
        uint64_t least = ~uint64_t{0};
        for (uint64_t i = 0; i < ROWS; ++i) least = std::min(least, counts_[i * WIDTH + h.place(i, WIDTH)]);
        return least;
    }
    void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  private:
    static constexpr uint64_t WIDTH = 2719, ROWS = 5;
    std::vector<uint64_t> counts_ = std::vector<uint64_t>(WIDTH * ROWS);
};

/// A million keys, error 1 %.
class Bloom {
  public:
    void prefetch(const Hash& h) const {
        for (uint64_t i = 0; i < HASHES; ++i) __builtin_prefetch(&words_[h.place(i, BITS) / 64], 1);
    }
    /// Adds it; was it there?
    bool add(const Hash& h) {
        uint64_t all = 1;
        for (uint64_t i = 0; i < HASHES; ++i) {
            const uint64_t bit = h.place(i, BITS);
            all &= words_[bit / 64] >> bit % 64;
            words_[bit / 64] |= uint64_t{1} << bit % 64;
        }
        return all != 0;
    }
    void clear() { std::fill(words_, words_ + BITS / 64 + 1, 0); }

  private:
    static constexpr uint64_t BITS = 10'098'866, HASHES = 7;
    uint64_t* words_ = large_array<uint64_t>(BITS / 64 + 1);
};

/// Error 2 %: S8.
class HyperLogLog {
  public:
    void add(uint64_t hash) {
        const uint64_t rest = hash << BITS;
        const auto rank = static_cast<uint8_t>(rest == 0 ? 65 - BITS : std::countl_zero(rest) + 1);
        uint8_t& r = registers_[hash >> (64 - BITS)];
        if (rank > r) [[unlikely]]
            r = rank;
    }
    uint64_t estimate() const {
        using Wide = unsigned __int128;
        std::array<uint64_t, 66> ranks{};
        for (const uint8_t r : registers_) ++ranks[r];
        if (ranks[0] == registers_.size()) return 0;
        Wide x = Wide{ranks[0]} << (63 - BITS), sigma = x;
        for (unsigned k = 0; x > 0; ++k) {
            x = x * x >> 63;
            sigma += x << k;
        }
        Wide total = sigma << BITS;
        for (unsigned r = 1; r <= 65 - BITS; ++r) total += r <= 63 ? Wide{ranks[r]} << (63 - r) : 0;
        const Wide found = ((Wide{3098164009} << (2 * BITS + 31)) + total / 2) / total;
        return static_cast<uint64_t>(std::min(found, Wide{~uint64_t{0}}));
    }

  private:
    static constexpr unsigned BITS = 12;
    std::array<uint8_t, size_t{1} << BITS> registers_{};
};

/// Space-Saving with 1000 counters, of which the ten highest are shown: S9. The least one is found by a tournament of
/// (count, order in which keys took their counters) in one number; a key's counter by a table of 4-byte places.
template <class Key>
class TopTalkers {
  public:
    TopTalkers() { clear(); }

    void prefetch(uint32_t hash) const { __builtin_prefetch(&table_[hash % TABLE]); }
    void add(const Key& key, uint32_t hash, uint64_t n) {
        for (uint32_t at = hash % TABLE; table_[at].counter != 0; at = (at + 1) % TABLE) {
            if (table_[at].hash == hash && counters_[table_[at].counter - 1].key == key) {
                const uint32_t counter = table_[at].counter - 1;
                return rank(counter, ranks_[LEAVES + counter] + (Rank{n} << 64));
            }
        }
        uint32_t counter = size_;
        uint64_t inherited = 0;
        if (size_ == COUNTERS) {
            counter = least();
            inherited = static_cast<uint64_t>(ranks_[LEAVES + counter] >> 64);
            forget(counter);
        } else {
            ++size_;
        }
        counters_[counter] = {key, hash};
        note(hash, counter);
        rank(counter, Rank{inherited + n} << 64 | order_++);
    }
    struct Talker {
        Key key;
        uint64_t count;
    };
    /// The ten highest, highest first, among equals the one that has its counter longest.
    std::vector<Talker> top() const {
        std::vector<uint32_t> all(size_);
        for (uint32_t i = 0; i < size_; ++i) all[i] = i;
        std::sort(all.begin(), all.end(), [this](uint32_t a, uint32_t b) {
            const Rank x = ranks_[LEAVES + a], y = ranks_[LEAVES + b];
            return x >> 64 != y >> 64 ? x >> 64 > y >> 64 : x < y;
        });
        all.resize(std::min<size_t>(all.size(), 10));
        std::vector<Talker> found;
        for (const uint32_t i : all) {
            found.push_back({counters_[i].key, static_cast<uint64_t>(ranks_[LEAVES + i] >> 64)});
        }
        return found;
    }
    void clear() {
        table_.assign(TABLE, {});
        ranks_.fill(~Rank{0});
        size_ = 0;
        order_ = 0;
    }

  private:
    using Rank = unsigned __int128;  ///< count, then order
    static constexpr uint32_t COUNTERS = 1000, LEAVES = 1024, TABLE = 4096;
    struct Counter {
        Key key;
        uint32_t hash;
    };
    struct Slot {
        uint32_t hash = 0, counter = 0;  // plus 1; 0: free
    };

    /// The counter with the lowest rank: the path of winners is kept as ranks only.
    uint32_t least() const {
        uint32_t at = 1;
        while (at < LEAVES) at = 2 * at + (ranks_[2 * at] != ranks_[at]);
        return at - LEAVES;
    }
    void rank(uint32_t counter, Rank rank) {
        uint32_t at = LEAVES + counter;
        ranks_[at] = rank;
        for (at /= 2; at > 0; at /= 2) {
            const Rank lower = std::min(ranks_[2 * at], ranks_[2 * at + 1]);
            if (ranks_[at] == lower) return;
            ranks_[at] = lower;
        }
    }
    void note(uint32_t hash, uint32_t counter) {
        uint32_t at = hash % TABLE;
        while (table_[at].counter != 0) at = (at + 1) % TABLE;
        table_[at] = {hash, counter + 1};
    }
    /// Takes a counter's key out of the table; those that follow close up.
    void forget(uint32_t counter) {
        uint32_t hole = counters_[counter].hash % TABLE;
        while (table_[hole].counter != counter + 1) hole = (hole + 1) % TABLE;
        for (uint32_t at = (hole + 1) % TABLE; table_[at].counter != 0; at = (at + 1) % TABLE) {
            const uint32_t home = table_[at].hash % TABLE;
            if ((at - home) % TABLE < (at - hole) % TABLE) continue;
            table_[hole] = table_[at];
            hole = at;
        }
        table_[hole] = {};
    }

    std::vector<Slot> table_;
    std::array<Counter, COUNTERS> counters_;
    std::array<Rank, 2 * LEAVES> ranks_;  ///< a tree: the lower of each two above them
    uint32_t size_ = 0;
    uint64_t order_ = 0;
};

}  // namespace polysome::bench
