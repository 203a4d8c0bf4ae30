/// A source NAT (examples/nat): an inside endpoint gets a public one, whatever the remote. TCP and UDP only: ICMP and
/// hairpinning, which the example has too, are left out.
#include "hand.hpp"

namespace polysome::bench {

namespace {

constexpr uint8_t INSIDE = 0, OUTSIDE = 1;
constexpr uint32_t LOWEST = 1024, PORTS = 65536 - LOWEST;

/// An address and a port of a protocol, in network order.
struct Endpoint {
    uint32_t ip;
    uint16_t port;
    uint16_t protocol;
};

struct Mapping {
    uint64_t last;
    Endpoint inside;
    Endpoint outside;
};

uint64_t lifetime(uint16_t protocol) { return (protocol == TCP ? 124 * 60 : 5 * 60) * SECOND; }

/// The free endpoints of a protocol: the one that is free longest goes first.
class Free {
  public:
    Free(const Rows& addresses, uint16_t protocol)
        : size_(addresses.size() * PORTS), count_(size_), ring_(large_array<Endpoint>(size_)) {
        size_t i = 0;
        for (const auto& row : addresses) {
            for (uint32_t port = LOWEST; port < 65536; ++port) {
                ring_[i++] = {__builtin_bswap32(static_cast<uint32_t>(row[0])),
                              __builtin_bswap16(static_cast<uint16_t>(port)), protocol};
            }
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

  private:
    size_t size_, count_, first_ = 0;
    Endpoint* ring_;
};

class Nat : public Hand {
  public:
    explicit Nat(const Setup& setup)
        : out_("out", setup.flows),
          back_(make_table<Endpoint>("back", setup.flows)),
          tcp_(setup.rows, TCP),
          udp_(setup.rows, UDP) {}

    void batch(std::span<Packet> packets, uint64_t now) override {
        Taken<Endpoint> queries, answers;
        std::array<const void*, BATCH> pointers;
        std::array<void*, BATCH> found;
        for (Packet& p : packets) {
            p.out = DROP;
            View view;
            if (!parse(p, view)) continue;
            if (p.port == INSIDE) {
                queries.next() = view;
                queries.add(p, {view.src, view.sport, view.protocol});
            } else {
                pointers[answers.count] = &answers.keys[answers.count];
                answers.next() = view;
                answers.add(p, {view.dst, view.dport, view.protocol});
            }
        }
        ended_ = false;
        out_.look_up(queries);
        uint64_t hits = 0;
        if (answers.count) rte_hash_lookup_bulk_data(back_, pointers.data(), answers.count, &hits, found.data());
        for (uint32_t i = 0; i < answers.count; ++i) {
            if (hits >> i & 1) {
                __builtin_prefetch(&out_[place_of(found[i])], 1);
            } else {
                found[i] = nullptr;
            }
        }
        // In the order of arrival: both lists are, and the packet tells which one is next.
        uint32_t i = 0, k = 0;
        while (i < queries.count || k < answers.count) {
            if (k == answers.count || (i < queries.count && queries.packets[i] < answers.packets[k])) {
                outwards(*queries.packets[i], queries.views[i], queries.keys[i], queries.places[i], now);
                ++i;
            } else {
                inwards(*answers.packets[k], answers.views[k], answers.keys[k], found[k], now);
                ++k;
            }
        }
        out_.sweep([&](const Mapping& e) { return now - e.last >= lifetime(e.inside.protocol); },
                   [&](int32_t place) { end(place); });
    }

  private:
    // The table's data: a place, plus 1 so that it is not null.
    static int32_t place_of(void* data) { return static_cast<int32_t>(reinterpret_cast<intptr_t>(data)) - 1; }
    static void* data_of(int32_t place) { return reinterpret_cast<void*>(static_cast<intptr_t>(place) + 1); }

    void end(int32_t place) {
        const Endpoint outside = out_[place].outside;
        rte_hash_del_key(back_, &outside);
        (outside.protocol == TCP ? tcp_ : udp_).release(outside);
        out_.remove(place);
        ended_ = true;
    }

    int32_t mapping(const Endpoint& inside, int32_t place, uint64_t now) {
        place = out_.current(inside, place);
        if (place >= 0 && now - out_[place].last < lifetime(inside.protocol)) return place;
        if (place >= 0) end(place);
        Free& free = inside.protocol == TCP ? tcp_ : udp_;
        if (free.empty() || (place = out_.add(inside, now)) < 0) return -1;
        const Endpoint outside = free.take();
        if (rte_hash_add_key_data(back_, &outside, data_of(place)) != 0) {
            free.release(outside);
            out_.remove(place);
            return -1;
        }
        out_[place].inside = inside;
        out_[place].outside = outside;
        return place;
    }

    void outwards(Packet& packet, const View& view, const Endpoint& key, int32_t place, uint64_t now) {
        place = mapping(key, place, now);
        if (place < 0) return;
        Mapping& m = out_[place];
        m.last = now;
        write_address(view, view.ip + 12, m.outside.ip);
        write_port(view, view.l4, m.outside.port);
        packet.out = OUTSIDE;
    }

    void inwards(Packet& packet, const View& view, const Endpoint& outside, void* data, uint64_t now) {
        if (ended_ || data == nullptr) {  // something ended, or began, since the batch was looked up
            if (rte_hash_lookup_data(back_, &outside, &data) < 0) return;
        }
        Mapping& m = out_[place_of(data)];
        if (now - m.last >= lifetime(outside.protocol)) return end(place_of(data));
        m.last = now;
        write_address(view, view.ip + 16, m.inside.ip);
        write_port(view, view.l4 + 2, m.inside.port);
        packet.out = INSIDE;
    }

    FlowTable<Endpoint, Mapping> out_;
    rte_hash* back_;
    Free tcp_, udp_;
    bool ended_ = false;  ///< any mapping since the batch was looked up
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<Nat>(setup); }

}  // namespace polysome::bench
