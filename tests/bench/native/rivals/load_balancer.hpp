/// A load balancer (examples/load_balancer): new flows go to the backends in turn and stay there.
#pragma once

#include "checksum.hpp"
#include "store.hpp"

namespace polysome::bench::load_balancer {

inline constexpr uint32_t VIP = 0x0a000064;  // 10.0.0.100
inline constexpr uint64_t IDLE = 30 * SECOND;

struct Backend {
    uint32_t ip;      // network order
    uint32_t change;  // of sums, when the VIP becomes it
    std::array<uint8_t, 6> mac;
    uint8_t uplink;
};

struct alignas(32) Sticky {
    FlowKey key;  // no flow is all zeros
    Life life;

    // The key's last bytes, which are 0 in all keys, have the backend's number.
    bool is(FlowKey other) const { return (_mm_movemask_epi8(_mm_cmpeq_epi8(key, other)) & 0x1fff) == 0x1fff; }
    uint32_t hash() const { return hash_of(_mm_insert_epi16(_mm_insert_epi8(key, 0, 13), 0, 7)); }
    bool free() const { return _mm_extract_epi8(key, 12) == 0; }
    uint32_t lifetime() const { return 0; }
    uint32_t backend() const { return static_cast<uint32_t>(_mm_extract_epi16(key, 7)); }
};

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 64;

    explicit Rival(const Setup& setup) : sticky_(setup.flows, {IDLE}) {
        for (const auto& row : setup.rows) {  // ip, mac, uplink
            const uint32_t ip = __builtin_bswap32(static_cast<uint32_t>(row[0]));
            Backend b{ip, change32(__builtin_bswap32(VIP), ip), {}, static_cast<uint8_t>(row[2])};
            for (size_t i = 0; i < 6; ++i) b.mac[i] = static_cast<uint8_t>(row[1] >> (40 - 8 * i));
            backends_.push_back(b);
        }
    }

    void batch(std::span<Packet> packets, uint64_t now) {
        std::array<View, MOST> views;
        std::array<uint32_t, MOST> hashes, candidates;
        const size_t n = packets.size();
        sticky_.expire(now, [](const Sticky&, uint64_t) {});
        for (size_t i = 0; i < n; ++i) {
            packets[i].out = DROP;
            parse(packets[i], false, views[i]);
            hashes[i] = hash_of(views[i].key);
            sticky_.prefetch(hashes[i]);
        }
        for (size_t i = 0; i < n; ++i) candidates[i] = sticky_.candidate(hashes[i]);
        for (size_t i = 0; i < n; ++i) {
            const View& view = views[i];
            if (view.l4 == NOWHERE || destination(view) != __builtin_bswap32(VIP)) continue;
            uint32_t place = sticky_.find(view.key, hashes[i], candidates[i], now, [](const Sticky&, uint64_t) {});
            if (place == NONE) place = choose(view.key, hashes[i], now);
            Sticky& sticky = sticky_[place];
            sticky.life.last = now;
            rewrite(packets[i], view, backends_[sticky.backend()]);
        }
    }

  private:
    static uint32_t destination(const View& view) { return static_cast<uint32_t>(_mm_extract_epi32(view.key, 1)); }

    [[gnu::noinline]] uint32_t choose(FlowKey key, uint32_t hash, uint64_t now) {
        if (sticky_.full()) sticky_.evict(now, [](const Sticky&, uint64_t) {});
        const uint32_t place = sticky_.insert(hash, now);
        const auto backend = static_cast<int>(turn_++ % backends_.size());
        sticky_[place].key = _mm_insert_epi16(key, backend, 7);
        sticky_.begin(place);
        return place;
    }

    static void rewrite(Packet& packet, const View& view, const Backend& backend) {
        uint8_t* f = packet.data;
        std::memcpy(f, backend.mac.data(), 6);
        std::memcpy(f + 30, &backend.ip, 4);
        adjust(f + 24, backend.change);
        adjust_l4(f + view.l4, view.protocol, backend.change);
        send(packet, view, backend.uplink);
    }

    std::vector<Backend> backends_;
    Store<Sticky, 1, Column> sticky_;
    uint32_t turn_ = 0;
};

}  // namespace polysome::bench::load_balancer
