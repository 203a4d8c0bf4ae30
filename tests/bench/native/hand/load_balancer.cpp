/// A load balancer (examples/load_balancer): new flows go to the backends in turn and stay there.
#include "hand.hpp"

namespace polysome::bench {

namespace {

constexpr uint32_t VIP = 0x0a000064;  // 10.0.0.100
constexpr uint64_t IDLE = 30 * SECOND;
constexpr uint8_t CLIENTS = 0;

struct Backend {
    uint32_t ip;  // network order
    std::array<uint8_t, 6> mac;
    uint8_t uplink;
};

struct Sticky {
    uint64_t last;
    uint32_t backend;
};

class LoadBalancer : public Hand {
  public:
    explicit LoadBalancer(const Setup& setup) : sticky_("sticky", setup.flows) {
        for (const auto& row : setup.rows) {  // ip, mac, uplink
            Backend b{__builtin_bswap32(static_cast<uint32_t>(row[0])), {}, static_cast<uint8_t>(row[2])};
            for (size_t i = 0; i < 6; ++i) b.mac[i] = static_cast<uint8_t>(row[1] >> (40 - 8 * i));
            backends_.push_back(b);
        }
    }

    void batch(std::span<Packet> packets, uint64_t now) override {
        std::array<View, BATCH> views;
        std::array<FlowKey, BATCH> keys;
        std::array<Packet*, BATCH> taken;
        std::array<int32_t, BATCH> places;
        uint32_t n = 0;
        for (Packet& p : packets) {
            p.out = DROP;
            if (p.port != CLIENTS || !parse(p, views[n]) || views[n].dst != __builtin_bswap32(VIP)) continue;
            keys[n] = views[n].key();
            taken[n++] = &p;
        }
        sticky_.look_up(keys.data(), n, places);
        for (uint32_t i = 0; i < n; ++i) {
            const int32_t place = entry(keys[i], places[i], now);
            if (place < 0) continue;
            Sticky& sticky = sticky_[place];
            sticky.last = now;
            const Backend& backend = backends_[sticky.backend];
            write_address(views[i], views[i].ip + 16, backend.ip);
            std::memcpy(taken[i]->data, backend.mac.data(), 6);
            taken[i]->out = backend.uplink;
        }
        sticky_.sweep([&](const Sticky& s) { return now - s.last >= IDLE; }, [&](int32_t p) { sticky_.remove(p); });
    }

  private:
    int32_t entry(const FlowKey& key, int32_t place, uint64_t now) {
        place = sticky_.current(key, place);
        if (place >= 0 && now - sticky_[place].last < IDLE) return place;
        if (place >= 0) sticky_.remove(place);
        if (sticky_.full()) sticky_.remove(sticky_.oldest());
        place = sticky_.add(key, now);
        if (place >= 0) sticky_[place].backend = turn_++ % static_cast<uint32_t>(backends_.size());
        return place;
    }

    std::vector<Backend> backends_;
    FlowTable<FlowKey, Sticky> sticky_;
    uint32_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<LoadBalancer>(setup); }

}  // namespace polysome::bench
