/// What the network functions written by hand have in common: the way a DPDK program is usually written.
///
/// Packets come in batches of at most 32. A batch is parsed, its keys are looked up with one rte_hash call, the state
/// found is prefetched, and then packets are handled in order. All is for untagged Ethernet, IPv4, TCP and UDP.
#pragma once

#include <rte_hash.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../memory.hpp"
#include "../traffic.hpp"

namespace polysome::bench {

using Rows = std::vector<std::vector<uint64_t>>;  ///< a config table: numbers only

/// What a network function is started with.
struct Setup {
    uint64_t flows = 0;  ///< that there is room for
    Rows rows;
};

class Hand {
  public:
    virtual ~Hand() = default;
    /// Decides about a batch and rewrites it. `now` is in ns and never runs back.
    virtual void batch(std::span<Packet> packets, uint64_t now) = 0;
    /// Packets made by the network function itself so far.
    virtual uint64_t emitted() const { return 0; }
};

/// The network function this program is about.
std::unique_ptr<Hand> make_hand(const Setup&);

/// Starts DPDK without devices, with `bytes` of large pages for its tables.
void start_dpdk(uint64_t bytes);
/// Bytes of that in use; all of it is in memory from the start.
uint64_t dpdk_bytes();
/// Where DPDK's tables are to be: an argument of its functions.
int dpdk_socket();

inline constexpr uint64_t SECOND = 1'000'000'000;

/// The 5-tuple in network order, as it is in the packet, padded: rte_hash compares 16 bytes much faster than 13, and
/// stores them in as much room.
struct FlowKey {
    uint32_t src, dst;
    uint16_t sport, dport;
    uint32_t protocol;
};
static_assert(sizeof(FlowKey) == 16);

/// Where things are in an untagged frame.
struct View {
    uint8_t* ip = nullptr;
    uint8_t* l4 = nullptr;
    uint32_t src, dst;      // network order
    uint16_t sport, dport;  // network order
    uint8_t protocol;

    FlowKey key() const { return {src, dst, sport, dport, protocol}; }
    FlowKey reversed() const { return {dst, src, dport, sport, protocol}; }
    uint32_t total_length() const { return load16(ip + 2); }
};

/// False if it is not a whole IPv4 packet with a TCP or UDP header.
inline bool parse(const Packet& packet, View& view) {
    uint8_t* ip = packet.data + 14;
    if (packet.size < 34 || load16(packet.data + 12) != 0x0800 || ip[0] >> 4 != 4) return false;
    const uint32_t header = (ip[0] & 15) * 4u, total = load16(ip + 2);
    if (header < 20 || total + 14u > packet.size || (load16(ip + 6) & 0x3fff) != 0) return false;
    view.protocol = ip[9];
    if ((view.protocol != TCP && view.protocol != UDP) || total < header + (view.protocol == TCP ? 20 : 8))
        return false;
    view.ip = ip;
    view.l4 = ip + header;
    std::memcpy(&view.src, ip + 12, 8);
    std::memcpy(&view.sport, view.l4, 4);
    return true;
}

/// RFC 1624, equation 3, on 16-bit words as they are in memory: the checksum at `p` after `from` became `to`.
inline void adjust(uint8_t* p, uint32_t from, uint32_t to) {
    uint16_t old;
    std::memcpy(&old, p, 2);
    const uint32_t less = ~from;
    uint32_t sum = static_cast<uint16_t>(~old);
    sum += (less & 0xffff) + (less >> 16) + (to & 0xffff) + (to >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    const uint16_t fresh = static_cast<uint16_t>(~sum);
    std::memcpy(p, &fresh, 2);
}

/// The same for the layer-4 checksum, which UDP may go without (RFC 768).
inline void adjust_l4(const View& view, uint32_t from, uint32_t to) {
    uint8_t* sum = view.l4 + (view.protocol == TCP ? 16 : 6);
    if (view.protocol == TCP) return adjust(sum, from, to);
    if ((sum[0] | sum[1]) == 0) return;
    adjust(sum, from, to);
    if ((sum[0] | sum[1]) == 0) sum[0] = sum[1] = 0xff;
}

/// Writes an address at `at` (in the IP header, network order) and mends both checksums.
inline void write_address(const View& view, uint8_t* at, uint32_t address) {
    uint32_t old;
    std::memcpy(&old, at, 4);
    std::memcpy(at, &address, 4);
    adjust(view.ip + 10, old, address);
    adjust_l4(view, old, address);
}

/// Writes a port at `at` (in the layer-4 header, network order) and mends the checksum.
inline void write_port(const View& view, uint8_t* at, uint16_t port) {
    uint16_t old;
    std::memcpy(&old, at, 2);
    std::memcpy(at, &port, 2);
    // ~old has ones in the upper half, which count as 0 there: 0xffff is nothing in one's complement.
    adjust_l4(view, old, port);
}

/// 0 if they are the same, for keys that rte_hash has no quick comparison for.
template <class Key>
int compare(const void* a, const void* b, size_t) {
    return std::memcmp(a, b, sizeof(Key));
}

template <class Key>
rte_hash* make_table(const char* name, uint64_t entries) {
    rte_hash_parameters options{};
    options.name = name;
    // Cuckoo tables do not fill up to the last place.
    options.entries = static_cast<uint32_t>(entries + entries / 8 + 64);
    options.key_len = sizeof(Key);
    options.socket_id = dpdk_socket();
    rte_hash* table = rte_hash_create(&options);
    if (table == nullptr) {
        std::fprintf(stderr, "rte_hash_create: no memory for %lu entries\n", static_cast<unsigned long>(entries));
        std::exit(1);
    }
    if (sizeof(Key) < 16) rte_hash_set_cmp_func(table, compare<Key>);
    return table;
}

/// The packets of a batch that a table is asked about, with their keys and where these are: what `look_up` said, or a
/// negative number.
template <class Key>
struct Taken {
    std::array<View, BATCH> views;
    std::array<Key, BATCH> keys;
    std::array<Packet*, BATCH> packets;
    std::array<int32_t, BATCH> places;
    uint32_t count = 0;

    /// The view for the packet that may be added next.
    View& next() { return views[count]; }
    void add(Packet& packet, const Key& key) {
        keys[count] = key;
        packets[count++] = &packet;
    }
};

/// A limited table of entries that end when they were not used for some time. State has `uint64_t last`, the time of
/// the last use, 0 in places that are free.
template <class Key, class State>
class FlowTable {
  public:
    FlowTable(const char* name, uint64_t capacity)
        : capacity_(capacity), places_(capacity + capacity / 8 + 64), table_(make_table<Key>(name, capacity)) {
        states_ = large_array<State>(places_);
    }

    /// Looks up the keys and prefetches what it finds.
    void look_up(Taken<Key>& taken) {
        removed_ = false;
        std::array<const void*, BATCH> pointers;
        for (uint32_t i = 0; i < taken.count; ++i) pointers[i] = &taken.keys[i];
        if (taken.count) rte_hash_lookup_bulk(table_, pointers.data(), taken.count, taken.places.data());
        for (uint32_t i = 0; i < taken.count; ++i) {
            if (taken.places[i] >= 0) __builtin_prefetch(&states_[taken.places[i]], 1);
        }
    }
    /// Where `key` is now, if `place` is what `look_up` said: entries come and go within a batch.
    int32_t current(const Key& key, int32_t place) const {
        return place >= 0 && !removed_ ? place : rte_hash_lookup(table_, &key);
    }

    /// The same, but an entry that `is_due(state)` ends first.
    template <class IsDue>
    int32_t alive(const Key& key, int32_t place, IsDue&& is_due) {
        place = current(key, place);
        if (place < 0 || !is_due(states_[place])) return place;
        remove(place);
        return -1;
    }
    /// The same; if there is none, a new one, which `begin(state)` sets up. If the table is full, an old one goes.
    template <class IsDue, class Begin>
    int32_t alive_or_new(const Key& key, int32_t place, uint64_t now, IsDue&& is_due, Begin&& begin) {
        place = alive(key, place, is_due);
        if (place >= 0) return place;
        if (full()) remove(oldest());
        place = add(key, now);
        if (place >= 0) begin(states_[place]);
        return place;
    }

    State& operator[](int32_t place) { return states_[place]; }
    Key key(int32_t place) const {
        void* key = nullptr;
        rte_hash_get_key_with_position(table_, place, &key);
        return *static_cast<Key*>(key);
    }
    bool full() const { return size_ >= capacity_; }

    /// Adds a key that is not there; negative if there is no room.
    int32_t add(const Key& key, uint64_t now) {
        if (full()) return -1;
        const int32_t place = rte_hash_add_key(table_, &key);
        if (place < 0) return place;
        ++size_;
        states_[place] = State{};
        states_[place].last = now;
        return place;
    }
    void remove(int32_t place) {
        const Key old = key(place);
        rte_hash_del_key(table_, &old);
        states_[place].last = 0;
        removed_ = true;
        --size_;
    }

    /// Looks at the next few places, as a timer would, and removes the entries that `is_due(state)`.
    template <class IsDue>
    void sweep(IsDue&& is_due) {
        sweep(is_due, [this](int32_t place) { remove(place); });
    }
    /// The same, but calls `end(place)`, which is to remove it.
    template <class IsDue, class Ended>
    void sweep(IsDue&& is_due, Ended&& end) {
        for (int i = 0; i < 8; ++i) {
            const auto place = static_cast<int32_t>(next_);
            next_ = next_ + 1 == places_ ? 0 : next_ + 1;
            if (states_[place].last != 0 && is_due(states_[place])) end(place);
        }
    }
    /// A place whose entry was not used for long: the one used longest ago of the next 64 that are taken.
    int32_t oldest() {
        int32_t best = -1;
        for (uint32_t seen = 0; seen < 64;) {
            const auto place = static_cast<int32_t>(next_);
            next_ = next_ + 1 == places_ ? 0 : next_ + 1;
            if (states_[place].last == 0) continue;
            ++seen;
            if (best < 0 || states_[place].last < states_[best].last) best = place;
        }
        return best;
    }

  private:
    uint64_t capacity_, places_, size_ = 0, next_ = 0;
    bool removed_ = false;  ///< since the last `look_up`
    rte_hash* table_;
    State* states_;
};

}  // namespace polysome::bench
