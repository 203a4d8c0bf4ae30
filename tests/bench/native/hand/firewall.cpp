/// A stateful firewall (examples/firewall, stdlib/nf/conntrack.nf): the inside opens connections, the outside answers.
/// TCP and UDP over IPv4 only.
#include "hand.hpp"

namespace polysome::bench {

namespace {

constexpr uint8_t INSIDE = 0, OUTSIDE = 1;
constexpr uint8_t FIN = 1, RST = 4;
constexpr uint8_t OPENER = 1, ANSWERER = 2;

enum Phase : uint8_t { conversation, opening, established, closing, closed };
constexpr std::array<uint64_t, 5> IDLE{120 * SECOND, 240 * SECOND, 124 * 60 * SECOND, 240 * SECOND, 10 * SECOND};

struct Connection {
    uint64_t last;
    Phase phase;
    uint8_t syns, fins;  // who has sent one
};

/// The connection after a segment of `side` with these flags.
void follow(Connection& c, uint8_t side, uint8_t flags) {
    if (flags & SYN) c.syns |= side;
    if (flags & FIN) c.fins |= side;
    if (flags & RST || c.fins == 3 || c.phase == closed) {
        c.phase = closed;
    } else if (c.fins) {
        c.phase = closing;
    } else if (c.syns == 3 && side == OPENER && flags & ACK) {
        c.phase = established;
    }
}

class Firewall : public Hand {
  public:
    explicit Firewall(const Setup& setup) : connections_("connections", setup.flows) {}

    void batch(std::span<Packet> packets, uint64_t now) override {
        Taken<FlowKey> taken;
        for (Packet& p : packets) {
            p.out = DROP;
            View& view = taken.next();
            if (parse(p, view)) taken.add(p, p.port == INSIDE ? view.key() : view.reversed());
        }
        const auto is_due = [now](const Connection& c) { return now - c.last >= IDLE[c.phase]; };
        connections_.look_up(taken);
        for (uint32_t i = 0; i < taken.count; ++i) {
            const FlowKey& key = taken.keys[i];
            const uint8_t flags = key.protocol == TCP ? taken.views[i].l4[13] : 0;
            const int32_t place = connections_.alive(key, taken.places[i], is_due);
            Packet& packet = *taken.packets[i];
            const bool inside = packet.port == INSIDE;
            if (inside ? open(key, place, flags, now) : answer(key, place, flags, now)) {
                packet.out = inside ? OUTSIDE : INSIDE;
            }
        }
        connections_.sweep(is_due);
    }

  private:
    bool open(const FlowKey& key, int32_t place, uint8_t flags, uint64_t now) {
        const bool tcp = key.protocol == TCP, opens = (flags & (SYN | ACK)) == SYN;
        const bool fresh = place < 0;
        if (fresh) {
            if ((tcp && !opens) || (place = connections_.add(key, now)) < 0) return false;
        }
        Connection& c = connections_[place];
        if (tcp && (fresh || (opens && c.phase == closed))) {
            c.phase = opening;
            c.syns = OPENER;
            c.fins = 0;
            if (fresh) follow(c, OPENER, flags);
        } else if (tcp) {
            follow(c, OPENER, flags);
        } else {
            c.phase = conversation;
        }
        c.last = now;
        return true;
    }

    bool answer(const FlowKey& key, int32_t place, uint8_t flags, uint64_t now) {
        if (place < 0) return false;
        Connection& c = connections_[place];
        if (key.protocol == TCP) follow(c, ANSWERER, flags);
        c.last = now;
        return true;
    }

    FlowTable<FlowKey, Connection> connections_;
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<Firewall>(setup); }

}  // namespace polysome::bench
