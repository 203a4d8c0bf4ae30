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
        Taken<uint32_t> taken;
        std::array<const void*, BATCH> pointers;
        std::array<void*, BATCH> plans;
        for (Packet& p : packets) {
            p.out = p.port == SUBSCRIBERS ? CORE : SUBSCRIBERS;
            View& view = taken.next();
            if (p.port != SUBSCRIBERS || !parse(p, view)) continue;
            pointers[taken.count] = &view.src;
            taken.add(p, view.src);
        }
        const auto is_due = [now](const Meter& m) { return now - m.last >= IDLE; };
        const auto fill = [now](Meter& m) { m.committed = m.peak = {~Tokens{0} >> 1, now}; };
        uint64_t special = 0;
        if (taken.count) rte_hash_lookup_bulk_data(by_address_, pointers.data(), taken.count, &special, plans.data());
        meters_.look_up(taken);
        for (uint32_t i = 0; i < taken.count; ++i) {
            const Plan& plan = plans_[special >> i & 1 ? reinterpret_cast<uintptr_t>(plans[i]) : 0];
            const int32_t place = meters_.alive_or_new(taken.keys[i], taken.places[i], now, is_due, fill);
            Packet& packet = *taken.packets[i];
            if (place < 0) {
                packet.out = DROP;
                continue;
            }
            Meter& meter = meters_[place];
            meter.last = now;
            const uint32_t size = taken.views[i].total_length();
            if (!meter.peak.take(size, plan.pir, plan.pbs, now)) {
                packet.out = DROP;
            } else if (!meter.committed.take(size, plan.cir, plan.cbs, now)) {
                mark(taken.views[i].ip);
            }
        }
        meters_.sweep(is_due);
    }

  private:
    static void mark(uint8_t* ip) {
        uint16_t before, after;
        std::memcpy(&before, ip, 2);
        ip[1] = static_cast<uint8_t>(YELLOW << 2 | (ip[1] & 3));
        std::memcpy(&after, ip, 2);
        adjust(ip + 10, before, after);
    }

    FlowTable<uint32_t, Meter> meters_;
    rte_hash* by_address_;
    std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<Policer>(setup); }

}  // namespace polysome::bench
