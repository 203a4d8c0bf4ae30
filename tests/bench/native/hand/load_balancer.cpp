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
        Taken<FlowKey> taken;
        for (Packet& p : packets) {
            p.out = DROP;
            View& view = taken.next();
            if (p.port == CLIENTS && parse(p, view) && view.dst == __builtin_bswap32(VIP)) taken.add(p, view.key());
        }
        const auto is_due = [now](const Sticky& s) { return now - s.last >= IDLE; };
        const auto choose = [this](Sticky& s) { s.backend = turn_++ % static_cast<uint32_t>(backends_.size()); };
        sticky_.look_up(taken);
        for (uint32_t i = 0; i < taken.count; ++i) {
            const int32_t place = sticky_.alive_or_new(taken.keys[i], taken.places[i], now, is_due, choose);
            if (place < 0) continue;
            Sticky& sticky = sticky_[place];
            sticky.last = now;
            const Backend& backend = backends_[sticky.backend];
            Packet& packet = *taken.packets[i];
            write_address(taken.views[i], taken.views[i].ip + 16, backend.ip);
            std::memcpy(packet.data, backend.mac.data(), 6);
            packet.out = backend.uplink;
        }
        sticky_.sweep(is_due);
    }

  private:
    std::vector<Backend> backends_;
    FlowTable<FlowKey, Sticky> sticky_;
    uint32_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<LoadBalancer>(setup); }

}  // namespace polysome::bench
