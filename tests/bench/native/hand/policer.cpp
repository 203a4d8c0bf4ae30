/// A two-rate three-colour policer per subscriber (examples/policer, RFC 2698, colour-blind).
#include <algorithm>

#include "hand.hpp"

namespace polysome::bench {

namespace {

constexpr uint8_t SUBSCRIBERS = 0, CORE = 1;
constexpr uint64_t IDLE = 60 * SECOND;
constexpr uint8_t YELLOW = 12;

/// Tokens are 10^-9 bit; a rate of R bit/s is R of them per ns.
using Tokens = unsigned __int128;
constexpr uint64_t TOKENS_PER_BYTE = 8 * SECOND;

struct Plan {
    uint64_t cir, cbs, pir, pbs;  // bit/s, bytes
};

struct TokenBucket {
    Tokens tokens;
    uint64_t last;

    bool take(uint64_t bytes, uint64_t rate, uint64_t burst, uint64_t now) {
        const Tokens there = std::min(Tokens{burst} * TOKENS_PER_BYTE, tokens + Tokens{now - last} * rate);
        const Tokens needed = Tokens{bytes} * TOKENS_PER_BYTE;
        if (there < needed) return false;
        tokens = there - needed;
        last = now;
        return true;
    }
};

struct Meter {
    uint64_t last;
    TokenBucket committed, peak;
};

class Policer : public Hand {
  public:
    explicit Policer(const Setup& setup)
        : meters_("meters", setup.flows), by_address_(make_table<uint32_t>("plans", setup.rows.size())) {
        for (const auto& row : setup.rows) {  // address, cir, cbs, pir, pbs; the first is for all without one
            const uint32_t address = __builtin_bswap32(static_cast<uint32_t>(row[0]));
            const auto number = static_cast<intptr_t>(plans_.size());
            if (number) rte_hash_add_key_data(by_address_, &address, reinterpret_cast<void*>(number));
            plans_.push_back({row[1], row[2], row[3], row[4]});
        }
    }

    void batch(std::span<Packet> packets, uint64_t now) override {
        std::array<View, BATCH> views;
        std::array<uint32_t, BATCH> keys;
        std::array<Packet*, BATCH> taken;
        std::array<int32_t, BATCH> places;
        std::array<const void*, BATCH> pointers;
        std::array<void*, BATCH> plans;
        uint32_t n = 0;
        for (Packet& p : packets) {
            p.out = p.port == SUBSCRIBERS ? CORE : SUBSCRIBERS;
            if (p.port != SUBSCRIBERS || !parse(p, views[n])) continue;
            keys[n] = views[n].src;
            pointers[n] = &keys[n];
            taken[n++] = &p;
        }
        uint64_t special = 0;
        if (n) rte_hash_lookup_bulk_data(by_address_, pointers.data(), n, &special, plans.data());
        meters_.look_up(keys.data(), n, places);
        for (uint32_t i = 0; i < n; ++i) {
            const Plan& plan = plans_[special >> i & 1 ? reinterpret_cast<uintptr_t>(plans[i]) : 0];
            const int32_t place = entry(keys[i], places[i], now);
            if (place < 0) {
                taken[i]->out = DROP;
                continue;
            }
            Meter& meter = meters_[place];
            meter.last = now;
            const uint32_t size = views[i].total_length();
            if (!meter.peak.take(size, plan.pir, plan.pbs, now)) {
                taken[i]->out = DROP;
            } else if (!meter.committed.take(size, plan.cir, plan.cbs, now)) {
                mark(views[i].ip);
            }
        }
        meters_.sweep([&](const Meter& m) { return now - m.last >= IDLE; }, [&](int32_t p) { meters_.remove(p); });
    }

  private:
    static void mark(uint8_t* ip) {
        uint16_t before, after;
        std::memcpy(&before, ip, 2);
        ip[1] = static_cast<uint8_t>(YELLOW << 2 | (ip[1] & 3));
        std::memcpy(&after, ip, 2);
        adjust(ip + 10, before, after);
    }

    int32_t entry(uint32_t key, int32_t place, uint64_t now) {
        place = meters_.current(key, place);
        if (place >= 0 && now - meters_[place].last < IDLE) return place;
        if (place >= 0) meters_.remove(place);
        if (meters_.full()) meters_.remove(meters_.oldest());
        place = meters_.add(key, now);
        if (place >= 0) meters_[place].committed = meters_[place].peak = {~Tokens{0} >> 1, now};  // full
        return place;
    }

    FlowTable<uint32_t, Meter> meters_;
    rte_hash* by_address_;
    std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<Policer>(setup); }

}  // namespace polysome::bench
