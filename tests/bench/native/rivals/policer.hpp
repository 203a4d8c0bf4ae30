/// A two-rate three-colour policer per subscriber (examples/policer, RFC 2698, colour-blind). Bursts below 2 GB.
#pragma once

#include <algorithm>

#include "checksum.hpp"
#include "store.hpp"

namespace polysome::bench::policer {

inline constexpr uint8_t SUBSCRIBERS = 0, CORE = 1;
inline constexpr uint64_t IDLE = 60 * SECOND;
inline constexpr uint8_t YELLOW = 12;

/// Tokens are 10^-9 bit; a rate of R bit/s is R of them per ns. A burst of less than 2 GB fits into 64 bits.
inline constexpr uint64_t TOKENS_PER_BYTE = 8 * SECOND;

struct Plan {
    uint64_t cir, cbs, pir, pbs;  // bit/s, tokens
};

struct TokenBucket {
    uint64_t tokens, last;

    [[gnu::always_inline]] bool take(uint64_t needed, uint64_t rate, uint64_t burst, uint64_t now) {
        uint64_t more, sum;
        const bool over = __builtin_mul_overflow(now - last, rate, &more) || __builtin_add_overflow(tokens, more, &sum);
        const uint64_t there = over ? burst : std::min(burst, sum);
        if (there < needed) return false;
        tokens = there - needed;
        last = now;
        return true;
    }
};

struct alignas(64) Meter {
    TokenBucket committed, peak;
    Life life;
    uint32_t address;  // network order
    uint32_t plan;     // of Plans, plus 1; 0 if free

    bool is(uint32_t other) const { return address == other; }
    uint32_t hash() const { return hash_of(uint64_t{address}); }
    bool free() const { return plan == 0; }
    uint32_t lifetime() const { return 0; }
};

/// What plan an address has, when a meter begins.
struct alignas(16) Own {
    uint32_t address, plan;
    uint64_t unused;

    bool is(uint32_t other) const { return address == other; }
};

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 64;

    explicit Rival(const Setup& setup) : own_(setup.rows.size()), meters_(setup.flows, {IDLE}) {
        for (const auto& row : setup.rows) {  // address, cir, cbs, pir, pbs; the first is for all without one
            const uint32_t address = __builtin_bswap32(static_cast<uint32_t>(row[0])),
                           hash = hash_of(uint64_t{address});
            plans_.push_back({row[1], row[2] * TOKENS_PER_BYTE, row[3], row[4] * TOKENS_PER_BYTE});
            if (plans_.size() > 1) own_[own_.insert(hash)] = {address, static_cast<uint32_t>(plans_.size()), 0};
        }
    }

    void batch(std::span<Packet> packets, uint64_t now) {
        const auto on_end = [](const Meter&, uint64_t) {};
        std::array<View, MOST> views;
        std::array<uint32_t, MOST> hashes, candidates;
        const size_t n = packets.size();
        meters_.expire(now, on_end);
        for (size_t i = 0; i < n; ++i) {
            parse(packets[i], false, views[i]);
            send(packets[i], views[i], packets[i].port == SUBSCRIBERS ? CORE : SUBSCRIBERS);
            hashes[i] = hash_of(uint64_t{source(views[i])});
            meters_.prefetch(hashes[i]);
        }
        for (size_t i = 0; i < n; ++i) candidates[i] = meters_.candidate(hashes[i]);
        for (size_t i = 0; i < n; ++i) {
            if (packets[i].port != SUBSCRIBERS || !views[i].ip) continue;
            const uint32_t address = source(views[i]);
            uint32_t place = meters_.find(address, hashes[i], candidates[i], now, on_end);
            if (place == NONE) [[unlikely]]
                place = begin(address, hashes[i], now);
            Meter& meter = meters_[place];
            meter.life.last = now;
            const Plan& plan = plans_[meter.plan - 1];
            const uint64_t needed = (views[i].length - 14u) * TOKENS_PER_BYTE;
            if (!meter.peak.take(needed, plan.pir, plan.pbs, now)) {
                packets[i].out = DROP;
            } else if (!meter.committed.take(needed, plan.cir, plan.cbs, now)) {
                mark(packets[i].data + 14);
            }
        }
    }

  private:
    static uint32_t source(const View& view) { return static_cast<uint32_t>(_mm_cvtsi128_si32(view.key)); }

    /// A meter with full buckets.
    [[gnu::noinline]] uint32_t begin(uint32_t address, uint32_t hash, uint64_t now) {
        if (meters_.full()) meters_.evict(now, [](const Meter&, uint64_t) {});
        const uint32_t place = meters_.insert(hash, now), own = own_.search(address, hash);
        Meter& meter = meters_[place];
        meter.address = address;
        meter.plan = own == NONE ? 1 : own_[own].plan;
        meter.committed = meter.peak = {~uint64_t{0}, now};
        meters_.begin(place);
        return place;
    }

    static void mark(uint8_t* ip) {
        uint16_t before, after;
        std::memcpy(&before, ip, 2);
        ip[1] = static_cast<uint8_t>(YELLOW << 2 | (ip[1] & 3));
        std::memcpy(&after, ip, 2);
        if (before != after) adjust(ip + 10, change16(before, after));
    }

    std::vector<Plan> plans_;
    Table<Own> own_;
    Store<Meter, 1, Column> meters_;
};

}  // namespace polysome::bench::policer
