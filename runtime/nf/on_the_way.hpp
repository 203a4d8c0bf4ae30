/// Packets in a schedule: their bytes, and how many copies of each may still leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "nf/buffer_pool.hpp"

namespace polysome {

/// All of them, by numbers that are used again. O(1) each, but for `holds` and `carry`.
class OnTheWay {
  public:
    /// `kept`: the bytes are the pool's.
    struct Packet {
        const uint8_t* data;
        uint32_t size;
        uint32_t waiting;
        uint64_t order;
        bool sent;
        bool kept;
    };

    /// The number of a packet of which `copies` may leave. Until `keep` its bytes are whoever's they are.
    uint32_t enter(std::span<const uint8_t> bytes, uint32_t copies, uint64_t order) {
        uint32_t number;
        if (free_.empty()) {
            number = static_cast<uint32_t>(packets_.size());
            packets_.emplace_back();
        } else {
            number = free_.back();
            free_.pop_back();
        }
        packets_[number] = {bytes.data(), static_cast<uint32_t>(bytes.size()), copies, order, false, false};
        return number;
    }
    Packet& operator[](uint32_t number) { return packets_[number]; }

    /// What is held after its offers outlives the frame.
    void keep(uint32_t number) {
        Packet& packet = packets_[number];
        if (packet.waiting == 0) return;
        packet.data = buffers_.copy(packet.data, packet.size);
        packet.kept = true;
    }
    /// A copy has left, or never will.
    void one_less(uint32_t number) {
        Packet& packet = packets_[number];
        if (--packet.waiting != 0) return;
        if (packet.kept) buffers_.give_back(const_cast<uint8_t*>(packet.data), packet.size);
        free_.push_back(number);
    }
    /// May a copy of this packet still leave? O(packets).
    bool holds(uint64_t order) const {
        return std::any_of(packets_.begin(), packets_.end(),
                           [&](const Packet& packet) { return packet.waiting != 0 && packet.order == order; });
    }
    /// O(bytes).
    template <class Archive>
    void carry(Archive& archive) {
        archive(free_);
        packets_.resize(archive.count(packets_.size()));
        for (Packet& packet : packets_) carry_packet(archive, packet);
    }

  private:
    template <class Archive>
    void carry_packet(Archive& archive, Packet& packet) {
        archive(packet.size, packet.waiting, packet.order, packet.sent);
        if (packet.waiting == 0) return;
        std::vector<uint8_t> bytes;
        if constexpr (!Archive::loading) bytes.assign(packet.data, packet.data + packet.size);
        archive(bytes);
        if constexpr (Archive::loading) {
            if (bytes.size() != packet.size) return archive.fail();
            packet.data = buffers_.copy(bytes.data(), bytes.size());
            packet.kept = true;
        }
    }

    std::vector<Packet> packets_;
    std::vector<uint32_t> free_;
    BufferPool buffers_;
};

}  // namespace polysome
