/// A source NAT (examples/nat): an inside endpoint gets a public one, whatever the remote. TCP and UDP, hairpinning
/// too.
#pragma once

#include "checksum.hpp"
#include "store.hpp"

namespace polysome::bench::nat {

inline constexpr uint8_t INSIDE = 0, OUTSIDE = 1;
inline constexpr uint32_t LOWEST = 1024, PORTS = 65536 - LOWEST;

/// An address, a port and a protocol: network order in the lower 32 bits, in the next 16, and a number in the highest.
using Endpoint = uint64_t;

inline Endpoint endpoint(uint32_t ip, uint32_t port, uint64_t protocol) {
    return __builtin_bswap32(ip) | uint64_t{__builtin_bswap16(static_cast<uint16_t>(port))} << 32 | protocol << 48;
}
inline uint32_t ip_of(Endpoint e) { return static_cast<uint32_t>(e); }
inline uint16_t port_of(Endpoint e) { return static_cast<uint16_t>(e >> 32); }
inline uint32_t protocol_of(Endpoint e) { return static_cast<uint32_t>(e >> 48); }

struct alignas(32) Mapping {
    std::array<Endpoint, 2> ends;  // by port: what the inside is known by there, and its public one
    Life life;

    bool is(Endpoint inside) const { return ends[INSIDE] == inside; }
    uint32_t hash() const { return hash_of(ends[INSIDE]); }
    bool free() const { return ends[INSIDE] == 0; }
    uint32_t lifetime() const { return protocol_of(ends[INSIDE]) == TCP ? 0 : 1; }
};

/// The numbers of the public addresses, by address.
class Addresses {
  public:
    explicit Addresses(const Rows& rows) {
        while (slots_.size() < rows.size() * 4) slots_.resize(slots_.size() * 2);
        for (const auto& row : rows) {
            const uint32_t ip = __builtin_bswap32(static_cast<uint32_t>(row[0]));
            if (number(ip) != NONE) continue;
            size_t i = first(ip);
            while (slots_[i].number != NONE) i = (i + 1) % slots_.size();
            slots_[i] = {ip, static_cast<uint32_t>(all_.size())};
            all_.push_back(static_cast<uint32_t>(row[0]));
        }
    }
    const std::vector<uint32_t>& all() const { return all_; }  // host order
    /// NONE if it is none of these; network order.
    [[gnu::always_inline]] uint32_t number(uint32_t ip) const {
        for (size_t i = first(ip);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i].ip == ip || slots_[i].number == NONE) return slots_[i].number;
        }
    }

  private:
    struct Slot {
        uint32_t ip = 0, number = NONE;
    };
    size_t first(uint32_t ip) const { return hash_of(uint64_t{ip}) & (slots_.size() - 1); }
    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::vector<uint32_t> all_;
};

/// The public endpoints of one protocol: which are free, the one that is free longest first, and whose the others are.
class Public {
  public:
    Public(const Addresses& addresses, uint32_t protocol)
        : size_(addresses.all().size() * PORTS),
          count_(size_),
          ring_(large_array<Endpoint>(size_)),
          holders_(large_array<uint32_t>(size_)) {
        size_t i = 0;
        for (const uint32_t ip : addresses.all()) {
            for (uint32_t port = LOWEST; port < 65536; ++port) ring_[i++] = endpoint(ip, port, protocol);
        }
    }
    bool empty() const { return count_ == 0; }
    Endpoint take() {
        const Endpoint e = ring_[first_];
        first_ = first_ + 1 == size_ ? 0 : first_ + 1;
        --count_;
        return e;
    }
    void release(Endpoint e) {
        const size_t last = first_ + count_++;
        ring_[last < size_ ? last : last - size_] = e;
    }
    /// The place of its mapping, plus 1; 0: none.
    uint32_t& holder(size_t number) { return holders_[number]; }

  private:
    size_t size_, count_, first_ = 0;
    Endpoint* ring_;
    uint32_t* holders_;
};

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 64;

    explicit Rival(const Setup& setup)
        : addresses_(setup.rows),
          tcp_(addresses_, TCP),
          udp_(addresses_, UDP),
          mappings_(setup.flows, {124 * 60 * SECOND, 5 * 60 * SECOND}) {}

    void batch(std::span<Packet> packets, uint64_t now) {
        const size_t n = packets.size();
        std::array<View, MOST> views;
        std::array<Endpoint, MOST> own;  // the end that mappings are known by on the packet's side
        std::array<uint32_t, MOST> hashes, places;
        std::array<uint8_t, MOST> from_inside, from_outside;
        size_t inside = 0, outside = 0;
        mappings_.expire(now, on_end());
        for (size_t i = 0; i < n; ++i) {
            packets[i].out = DROP;
            parse(packets[i], packets[i].port == OUTSIDE, views[i]);
            own[i] = first_end(views[i].key);
            from_inside[inside] = from_outside[outside] = static_cast<uint8_t>(i);
            inside += packets[i].port == INSIDE;
            outside += packets[i].port == OUTSIDE;
        }
        std::array<uint32_t*, MOST> holders;
        for (size_t k = 0; k < inside; ++k) {
            const size_t i = from_inside[k];
            hashes[i] = hash_of(own[i]);
            mappings_.prefetch(hashes[i]);
        }
        for (size_t k = 0; k < outside; ++k) {
            const size_t i = from_outside[k];
            holders[k] = holder(own[i]);
            __builtin_prefetch(holders[k]);
        }
        for (size_t k = 0; k < inside; ++k) places[from_inside[k]] = mappings_.candidate(hashes[from_inside[k]]);
        for (size_t k = 0; k < outside; ++k) {
            const uint32_t place = *holders[k] - 1;
            places[from_outside[k]] = place;
            __builtin_prefetch(&mappings_[place == NONE ? 0 : place], 1);
        }
        for (size_t i = 0; i < n; ++i) {
            if (views[i].l4 != NOWHERE) translate(packets[i], views[i], own[i], hashes[i], places[i], now);
        }
    }

  private:
    static Endpoint first_end(FlowKey key) {
        const __m128i order = _mm_setr_epi8(0, 1, 2, 3, 8, 9, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1);
        return static_cast<Endpoint>(_mm_cvtsi128_si64(_mm_shuffle_epi8(key, order)));
    }
    static Endpoint other_end(FlowKey key) {
        const __m128i order = _mm_setr_epi8(4, 5, 6, 7, 10, 11, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1);
        return static_cast<Endpoint>(_mm_cvtsi128_si64(_mm_shuffle_epi8(key, order)));
    }
    auto on_end() {
        return [this](const Mapping& m, uint64_t) {
            *holder(m.ends[OUTSIDE]) = 0;
            side(m.ends[OUTSIDE]).release(m.ends[OUTSIDE]);
        };
    }
    Public& side(Endpoint e) { return protocol_of(e) == TCP ? tcp_ : udp_; }

    /// Where a public endpoint's mapping is noted; for all others a place that always says none.
    [[gnu::always_inline]] uint32_t* holder(Endpoint e) {
        const uint32_t number = addresses_.number(ip_of(e)), port = __builtin_bswap16(port_of(e));
        const bool is_one = number != NONE && port >= LOWEST;
        return is_one ? &side(e).holder(size_t{number} * PORTS + port - LOWEST) : &nobody_;
    }

    [[gnu::always_inline]] void translate(Packet& packet, const View& view, Endpoint own, uint32_t hash, uint32_t place,
                                          uint64_t now) {
        const uint32_t port = packet.port;
        bool right = place != NONE && mappings_[place].ends[port] == own;
        if constexpr (!Column::exact) right = right && !mappings_.due(mappings_[place], now);
        if (!right) [[unlikely]] {
            place = port == INSIDE ? mapping(own, hash, now) : holding(own, now);
            if (place == NONE) return;
        }
        Mapping& m = mappings_[place];
        m.life.last = now;
        rewrite(packet, view, port, m.ends[port ^ 1]);
        const uint32_t remote = static_cast<uint32_t>(_mm_extract_epi32(view.key, 1));
        if (port == INSIDE && addresses_.number(remote) != NONE) [[unlikely]]
            return hairpin(packet, view, now);
        send(packet, view, static_cast<uint8_t>(port ^ 1));
    }

    /// The mapping of an inside endpoint, which may be new; NONE if there can be none.
    [[gnu::noinline]] uint32_t mapping(Endpoint own, uint32_t hash, uint64_t now) {
        uint32_t place = mappings_.find(own, hash, NONE, now, on_end());
        if (place != NONE) return place;
        Public& free = side(own);
        if (free.empty()) return NONE;
        const Endpoint taken = free.take();
        if (mappings_.full()) {
            free.release(taken);
            return NONE;
        }
        place = mappings_.insert(hash, now);
        mappings_[place].ends = {own, taken};
        mappings_.begin(place);
        *holder(taken) = place + 1;
        return place;
    }
    /// The mapping of a public endpoint.
    [[gnu::noinline]] uint32_t holding(Endpoint own, uint64_t now) {
        const uint32_t place = *holder(own) - 1;
        if constexpr (Column::exact) return place;
        if (place == NONE || !mappings_.due(mappings_[place], now)) return place;
        mappings_.end(place, now, on_end());
        return NONE;
    }

    /// What goes from the inside to a public endpoint comes back to the inside; its source is rewritten already.
    [[gnu::noinline]] void hairpin(Packet& packet, const View& view, uint64_t now) {
        const uint32_t place = holding(other_end(view.key), now);
        if (place == NONE) return;
        mappings_[place].life.last = now;
        rewrite(packet, view, OUTSIDE, mappings_[place].ends[INSIDE]);
        send(packet, view, INSIDE);
    }

    /// Of a packet from the inside the source becomes `end`, of one from outside the destination.
    [[gnu::always_inline]] static void rewrite(Packet& packet, const View& view, uint32_t port, Endpoint end) {
        uint8_t* address = packet.data + 26 + 4 * port;
        uint8_t* number = packet.data + view.l4 + 2 * port;
        uint32_t old;
        uint16_t old_port;
        std::memcpy(&old, address, 4);
        std::memcpy(&old_port, number, 2);
        const uint32_t ip = ip_of(end), change = change32(old, ip);
        const uint16_t own = port_of(end);
        std::memcpy(address, &ip, 4);
        std::memcpy(number, &own, 2);
        adjust(packet.data + 24, change);
        adjust_l4(packet.data + view.l4, view.protocol, change + change16(old_port, own));
    }

    Addresses addresses_;
    Public tcp_, udp_;
    uint32_t nobody_ = 0;
    Store<Mapping, 2, Column> mappings_;
};

}  // namespace polysome::bench::nat
