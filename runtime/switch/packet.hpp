// Packets on their way through the switch, and the pool they come from: no allocation once it is warm.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "switch/pass.hpp"

namespace polysome::p4 {

constexpr std::uint32_t longest_frame = 10'000;  // bytes without FCS: what a MAC of the chip accepts, rounded down

/// The packet's bytes, `data` to `data + size`, lie in a buffer with room before them for headers to come.
struct Packet {
    std::uint8_t* data;
    std::uint32_t size;
    Packet* next;

    // What the traffic manager and egress know of a copy.
    std::uint16_t port;
    std::uint16_t rid;
    std::uint16_t length;  // pkt_length
    std::uint8_t queue;
    bool bypass, first_copy;
    std::uint32_t depth;  // bytes in the queue before it
    Time since;           // when it came into the queue, or (loopback) arrives at ingress
    std::uint64_t mark;   // the simulator's, of the received frame that it comes from

    std::uint8_t* base;  // of the buffer
    std::uint32_t room;  // of the buffer
};

class PacketPool {
  public:
    static constexpr std::uint32_t headroom = 768;
    static constexpr std::uint32_t tailroom = 8;

    /// A packet with `size` bytes that are not set yet.
    Packet* make(std::uint32_t size) {
        auto& free = size <= small ? free_small_ : free_large_;
        if (free == nullptr) grow(size <= small ? small : longest_frame + most_emitted, free);
        Packet* p = free;
        free = p->next;
        p->data = p->base + headroom;
        p->size = size;
        return p;
    }

    Packet* copy(std::span<const std::uint8_t> bytes) {
        Packet* p = make(static_cast<std::uint32_t>(bytes.size()));
        if (!bytes.empty()) std::memcpy(p->data, bytes.data(), bytes.size());  // the data of no bytes may be null
        return p;
    }

    void release(Packet* p) {
        auto& free = p->room == room(small) ? free_small_ : free_large_;
        p->next = free;
        free = p;
    }

    /// Replaces the first bytes by what a deparser emitted; the payload stays where it is if there is room before it.
    Packet* rewrite(Packet* p, const Front& front) {
        const std::uint32_t rest = p->size - front.consumed;
        if (static_cast<std::uint32_t>(p->data - p->base) + front.consumed < front.emitted) p = moved(p);
        p->data += front.consumed;
        p->data -= front.emitted;
        std::memcpy(p->data, front.head, front.emitted);
        p->size = rest + front.emitted;
        return p;
    }

  private:
    static constexpr std::uint32_t small = 2048;
    static constexpr std::uint32_t room(std::uint32_t size) { return headroom + size + most_emitted + tailroom; }

    void grow(std::uint32_t size, Packet*& free) {
        constexpr std::size_t batch = 64;
        blocks_.emplace_back(std::make_unique_for_overwrite<std::uint8_t[]>(batch * room(size)));
        headers_.emplace_back(std::make_unique<Packet[]>(batch));
        for (std::size_t i = 0; i < batch; ++i) {
            Packet& p = headers_.back()[i];
            p.base = blocks_.back().get() + i * room(size);
            p.room = room(size);
            p.next = free;
            free = &p;
        }
    }

    /// The same packet with all the room before it that a new one has.
    Packet* moved(Packet* p) {
        if (headroom + p->size + tailroom <= p->room) {
            std::memmove(p->base + headroom, p->data, p->size);
            p->data = p->base + headroom;
            return p;
        }
        Packet* larger = make(small + 1);
        Packet copy = *p;
        copy.base = larger->base;
        copy.room = larger->room;
        copy.data = larger->data;
        *larger = copy;
        std::memcpy(larger->data, p->data, p->size);
        release(p);
        return larger;
    }

    std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
    std::vector<std::unique_ptr<Packet[]>> headers_;
    Packet* free_small_ = nullptr;
    Packet* free_large_ = nullptr;
};

}  // namespace polysome::p4
