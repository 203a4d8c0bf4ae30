/// A stateful firewall (examples/firewall, stdlib/nf/conntrack.nf): the inside opens connections, the outside answers.
/// TCP and UDP over IPv4 only.
#pragma once

#include "flow_entry.hpp"
#include "store.hpp"

namespace polysome::bench::firewall {

inline constexpr uint8_t INSIDE = 0, OUTSIDE = 1;

enum Phase : uint8_t { conversation, opening, established, closing, closed };

/// Phase, who has sent a SYN, who a FIN (bit 0 the opener, bit 1 the answerer), in one byte.
using State = uint8_t;
constexpr State state(uint32_t phase, uint32_t syns, uint32_t fins) {
    return static_cast<State>(phase | syns << 3 | fins << 5);
}
inline constexpr State FRESH = state(opening, 1, 0);

/// What becomes of a state when a segment of port `side` comes with these flags.
constexpr State after(State known, uint32_t side, uint32_t flags) {
    const uint32_t phase = known & 7;
    if (side == INSIDE && (flags & syn) && !(flags & ack) && phase == closed) return FRESH;  // the port is used again
    const uint32_t who = 1u << side;
    const uint32_t syns = (known >> 3 & 3) | (flags & syn ? who : 0), fins = known >> 5 | (flags & fin ? who : 0);
    if (flags & rst || fins == 3 || phase == closed) return state(closed, syns, fins);
    if (fins != 0) return state(closing, syns, fins);
    if (syns == 3 && side == INSIDE && flags & ack) return state(established, syns, fins);
    return state(phase, syns, fins);
}

/// All of them, by side, flags and state.
inline constexpr auto AFTER = [] {
    std::array<State, 2 * 16 * 128> all{};
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = after(i & 127, i >> 11, i >> 7 & 15);
    return all;
}();

inline constexpr std::array<uint8_t, 8> LIFETIME{0, 1, 2, 1, 3};  // by phase; opening and closing last as long

struct Connection : FlowEntry {
    uint32_t lifetime() const { return LIFETIME[state() & 7]; }
};

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 64;

    explicit Rival(const Setup& setup)
        : connections_(setup.flows, {120 * SECOND, 240 * SECOND, 124 * 60 * SECOND, 10 * SECOND}) {}

    void batch(std::span<Packet> packets, uint64_t now) {
        const auto on_end = [](const Connection&, uint64_t) {};
        std::array<View, MOST> views;
        std::array<uint32_t, MOST> hashes, candidates;
        const size_t n = packets.size();
        connections_.expire(now, on_end);
        for (size_t i = 0; i < n; ++i) {
            packets[i].out = DROP;
            parse(packets[i], packets[i].port == OUTSIDE, views[i]);
            hashes[i] = hash_of(views[i].key);
            connections_.prefetch(hashes[i]);
        }
        for (size_t i = 0; i < n; ++i) candidates[i] = connections_.candidate(hashes[i]);
        for (size_t i = 0; i < n; ++i) {
            const View& view = views[i];
            if (view.l4 == NOWHERE) continue;
            const uint32_t flags = tcp_flags(packets[i], view);
            const uint32_t place = connections_.find(view.key, hashes[i], candidates[i], now, on_end);
            if (place == NONE) [[unlikely]] {
                if (packets[i].port != INSIDE || !open(view, hashes[i], flags, now)) continue;
            } else {
                follow(place, packets[i].port, flags, now);
            }
            send(packets[i], view, packets[i].port ^ 1);
        }
    }

  private:
    [[gnu::noinline]] bool open(const View& view, uint32_t hash, uint32_t flags, uint64_t now) {
        const bool tcp = view.protocol == TCP;
        if (connections_.full() || (tcp && (flags & (syn | ack)) != syn)) return false;
        const uint32_t place = connections_.insert(hash, now);
        connections_[place].set(view.key, tcp ? after(FRESH, INSIDE, flags) : state(conversation, 0, 0));
        connections_.begin(place);
        return true;
    }
    [[gnu::always_inline]] void follow(uint32_t place, uint32_t side, uint32_t flags, uint64_t now) {
        Connection& c = connections_[place];
        c.life.last = now;
        const State known = c.state(), next = AFTER[side << 11 | flags << 7 | known];
        if (next == known) [[likely]]
            return;
        const uint32_t lifetime = c.lifetime();
        c.state(next);
        if (c.lifetime() != lifetime) connections_.begin(place);
    }

    Store<Connection, 4, Column> connections_;
};

}  // namespace polysome::bench::firewall
