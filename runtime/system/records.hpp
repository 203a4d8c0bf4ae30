/// What a run of the system tells, as bytes for a reader in another language, in the order in which it happened.
///
/// Each record is little-endian:
///   u8 kind, u8 suffix, u16 port, u32 size, u64 time (ns), u64 number, u64 packet
///   then `size` bytes, of which the last `suffix` follow the packet's end (PROTOCOL.md, what leaves)
/// `packet` is the number of a packet as it arrived, from 0; all ones where there is none. By kind:
///   0 left     a packet left at logical port `port`: its bytes; `number` the decision it follows (all ones: none)
///   1 own left a packet that the NF made left: its bytes; `number` of the packet made
///   2 dropped  the NF dropped the packet: `port` the reason's number, `number` the decision
///   3 decided  decision `number` is about to be made, about `packet` of logical port `port`, at NF time `time`: the
///              tag of its frame
///   4 made     the NF made packet `number`, to leave at logical port `port`: its bytes; `packet` is the decision that
///              caused it (all ones: none did)
///   5 lost     the packet is lost: `port` the number of the cause. At the end of a run.
///   6 held     the NF still holds the packet. At the end of a run.
///   7 host     server `port` has got a frame that is not for its NIC's RDMA: its bytes
///   8 frame    a frame is put on link `port`: its bytes. Only if links are captured.
///   9 end      `time`: where the NF's clock stands at the end of the run
///   10 answered  the NF sends the packet of decision `number` on, at NF time `time`: `port` the tag's verdict
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "system/time.hpp"

namespace polysome::system {

inline constexpr uint64_t no_number = ~uint64_t{0};

enum class Record : uint8_t { left, own_left, dropped, decided, made, lost, held, host, frame, end, answered };

class Recorder {
  public:
    static constexpr size_t head = 32;

    /// `suffix`: at most 255.
    void write(Record kind, uint64_t port, Time time, uint64_t number, uint64_t packet,
               std::span<const uint8_t> bytes = {}, size_t suffix = 0) {
        const size_t at = records_.size();
        records_.resize(at + head + bytes.size());
        uint8_t* const to = records_.data() + at;
        const uint64_t first = static_cast<uint8_t>(kind) | suffix << 8 | (port & 0xffff) << 16 |
                               static_cast<uint64_t>(bytes.size()) << 32;
        const std::array<uint64_t, 4> words = {first, time, number, packet};  // the host is little-endian
        std::memcpy(to, words.data(), head);
        if (!bytes.empty()) std::memcpy(to + head, bytes.data(), bytes.size());
    }

    /// The records since the last call; valid until the next one.
    std::span<const uint8_t> take() {
        given_.swap(records_);
        records_.clear();
        return given_;
    }

  private:
    std::vector<uint8_t> records_;
    std::vector<uint8_t> given_;
};

}  // namespace polysome::system
