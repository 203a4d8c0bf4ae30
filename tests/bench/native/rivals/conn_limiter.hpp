/// A limit of TCP connections per client (examples/conn_limiter). Over IPv4 only.
#pragma once

#include "flow_entry.hpp"
#include "store.hpp"

namespace polysome::bench::conn_limiter {

inline constexpr uint8_t CLIENTS = 0, SERVERS = 1;

enum Phase : uint8_t { opening, answered, established };

/// Phase, and who has sent a FIN (bit 0 the client, bit 1 the server), in one byte. A fresh one is 0.
using State = uint8_t;
inline constexpr State ENDS = 0xff;

/// What becomes of a state when a segment of port `side` comes with these flags.
constexpr State after(State known, uint32_t side, uint32_t flags) {
    const uint32_t phase = known & 3, fins = known >> 2 | (flags & fin ? 1u << side : 0);
    if (side == CLIENTS && (flags & (syn | ack | rst)) == syn) return known >> 2 ? 0 : known;  // the ports anew
    if (flags & rst || fins == 3) return ENDS;
    const bool answers = side == SERVERS && flags & syn && phase == opening;
    const bool establishes = side == CLIENTS && flags & ack && phase == answered;
    return static_cast<State>((answers ? answered : establishes ? established : phase) | fins << 2);
}

/// All of them, by side, flags and state.
inline constexpr auto AFTER = [] {
    std::array<State, 2 * 16 * 16> all{};
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = after(i & 15, i >> 8, i >> 4 & 15);
    return all;
}();

struct Connection : FlowEntry {
    uint32_t lifetime() const { return state() == established ? 0 : 1; }
    uint32_t client() const { return static_cast<uint32_t>(_mm_cvtsi128_si32(key)); }
};

/// How many connections a client has.
struct alignas(16) Open {
    uint64_t count;
    uint32_t address, unused;

    bool is(uint32_t other) const { return address == other; }
};

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 64;

    explicit Rival(const Setup& setup)
        : limit_(setup.rows.at(0).at(0)),
          capacity_(setup.flows),
          clients_(setup.flows),
          connections_(setup.flows, {30 * 60 * SECOND, 4 * 60 * SECOND}) {}

    void batch(std::span<Packet> packets, uint64_t now) {
        std::array<View, MOST> views;
        std::array<uint32_t, MOST> hashes, candidates;
        const size_t n = packets.size();
        connections_.expire(now, on_end());
        for (size_t i = 0; i < n; ++i) {
            parse(packets[i], packets[i].port == SERVERS, views[i]);
            send(packets[i], views[i], packets[i].port ^ 1);
            hashes[i] = hash_of(views[i].key);
            connections_.prefetch(hashes[i]);
        }
        for (size_t i = 0; i < n; ++i) candidates[i] = connections_.candidate(hashes[i]);
        for (size_t i = 0; i < n; ++i) {
            const View& view = views[i];
            if (view.protocol != TCP) continue;
            if (view.l4 == NOWHERE) [[unlikely]] {
                if (packets[i].port == CLIENTS) packets[i].out = DROP;  // TCP without its header
                continue;
            }
            const uint32_t flags = tcp_flags(packets[i], view);
            const uint32_t place = connections_.find(view.key, hashes[i], candidates[i], now, on_end());
            if (place != NONE) [[likely]] {
                follow(place, packets[i].port, flags, now);
            } else if (packets[i].port == CLIENTS && (flags & (syn | ack | rst)) == syn) {
                if (!admit(view.key, hashes[i], now)) packets[i].out = DROP;
            }
        }
    }

  private:
    auto on_end() {
        return [this](const Connection& c, uint64_t) { one_less(c.client()); };
    }
    void one_less(uint32_t client) {
        const uint32_t hash = hash_of(uint64_t{client}), place = clients_.search(client, hash);
        if (place == NONE || --clients_[place].count > 0) return;
        clients_.erase(place, hash);
        --size_;
    }

    /// A client's connection, if it may have one more, and there is room for it.
    [[gnu::noinline]] bool admit(FlowKey key, uint32_t hash, uint64_t now) {
        const auto client = static_cast<uint32_t>(_mm_cvtsi128_si32(key));
        const uint32_t client_hash = hash_of(uint64_t{client});
        uint32_t own = clients_.search(client, client_hash);
        if ((own == NONE ? 0 : clients_[own].count) >= limit_ || (own == NONE && size_ >= capacity_)) return false;
        if (connections_.full()) return false;
        if (own == NONE) {
            own = clients_.insert(client_hash);
            clients_[own] = {0, client, 0};
            ++size_;
        }
        ++clients_[own].count;
        const uint32_t place = connections_.insert(hash, now);
        connections_[place].set(key, 0);
        connections_.begin(place);
        return true;
    }
    [[gnu::always_inline]] void follow(uint32_t place, uint32_t side, uint32_t flags, uint64_t now) {
        Connection& c = connections_[place];
        c.life.last = now;
        const State known = c.state(), next = AFTER[side << 8 | flags << 4 | known];
        if (next == known) [[likely]]
            return;
        if (next == ENDS) return connections_.end(place, now, on_end());
        const uint32_t lifetime = c.lifetime();
        c.state(next);
        if (c.lifetime() != lifetime) connections_.begin(place);
    }

    uint64_t limit_, capacity_, size_ = 0;  // of clients_
    Table<Open> clients_;
    Store<Connection, 2, Column> connections_;
};

}  // namespace polysome::bench::conn_limiter
