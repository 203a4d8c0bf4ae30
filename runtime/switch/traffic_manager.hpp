// The traffic manager: of each port eight queues of finite depth, strict priority, store and forward. It counts what
// waits in cells, as chips do: a frame takes whole ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "switch/packet.hpp"

namespace polysome::p4 {

constexpr unsigned ports = 512;
constexpr unsigned queues = 8;
constexpr unsigned wire_overhead = 24;  // bytes that a frame takes on the wire besides its own: FCS, preamble, gap

struct PortConfig {
    std::uint64_t rate = 0;                  // bit/s; 0: no limit
    std::uint32_t queue_bytes = 512 * 1024;  // that may wait in each queue
    std::uint32_t first_queue_bytes = 0;     // in the one that is served first; 0: as queue_bytes
    std::uint64_t metadata = 0;              // the first 64 bits that port_metadata_unpack reads; the others are 0
    bool append_icrc = false;                // RoCE frames that lack an ICRC leave with it, as of a chip
    bool loopback = false;                   // what leaves comes in again,
    Time loop_time = 0;                      // ns after its last bit

    /// Bytes of cells that may wait in a queue. The higher a queue's number, the earlier it is served.
    std::uint32_t limit(unsigned queue) const {
        return queue == queues - 1 && first_queue_bytes != 0 ? first_queue_bytes : queue_bytes;
    }
};

struct QueueCounters {
    std::uint64_t in = 0;       // copies that came in
    std::uint64_t dropped = 0;  // copies for which there was no room
    std::uint32_t most = 0;     // the most bytes of cells there ever were
};

class TrafficManager {
  public:
    /// `cell`: in bytes.
    explicit TrafficManager(std::uint32_t cell) : cell_(cell), ports_(ports) {}

    struct Queue {
        Packet* first = nullptr;
        Packet* last = nullptr;
        std::uint32_t bytes = 0;  // of cells
        QueueCounters counters;
    };
    struct Port {
        PortConfig config;
        bool configured = false;
        bool held = false;    // nothing leaves
        bool active = false;  // it is in the list of those that have copies
        Time free = 0;        // when the wire is free again
        std::uint32_t waiting = 0;
        std::array<Queue, queues> queue;
    };

    Port& port(std::uint16_t at) { return ports_[at]; }
    const Port& port(std::uint16_t at) const { return ports_[at]; }

    /// Puts a copy into the queue that it names; false if there is no room.
    bool put(Packet* p, Time now) {
        Port& port = ports_[p->port];
        Queue& q = port.queue[p->queue];
        if (q.bytes + taken(p) > port.config.limit(p->queue)) {
            ++q.counters.dropped;
            return false;
        }
        p->depth = q.bytes;
        p->since = now;
        p->next = nullptr;
        (q.first == nullptr ? q.first : q.last->next) = p;
        q.last = p;
        q.bytes += taken(p);
        ++q.counters.in;
        q.counters.most = std::max(q.counters.most, q.bytes);
        ++port.waiting;
        if (!port.active) {
            port.active = true;
            active_.push_back(p->port);
        }
        return true;
    }

    struct Next {
        Time at = never;
        std::uint16_t port = 0;
    };
    /// The port whose next copy may leave first, and when; of several at once the one of the lowest number.
    Next next() const {
        Next found;
        for (const std::uint16_t number : active_) {
            const Time at = ready(ports_[number]);
            if (at < found.at || (at == found.at && number < found.port)) found = {at, number};
        }
        return found;
    }

    /// Takes the copy that leaves `port` at `at`: of the highest queue that has one by then.
    Packet* take(std::uint16_t number, Time at) {
        Port& port = ports_[number];
        unsigned q = queues - 1;
        while (port.queue[q].first == nullptr || port.queue[q].first->since > at) --q;
        Queue& queue = port.queue[q];
        Packet* p = queue.first;
        queue.first = p->next;
        queue.bytes -= taken(p);
        if (--port.waiting == 0) {
            port.active = false;
            active_.erase(std::find(active_.begin(), active_.end(), number));
        }
        return p;
    }

    /// The wire takes a frame of `size` bytes at `at`; when its last bit has left.
    Time send(std::uint16_t number, std::uint32_t size, Time at) {
        Port& port = ports_[number];
        if (port.config.rate == 0) return at;
        const u128 bits = u128{size + wire_overhead} * 8 * 1'000'000'000;
        return port.free = at + static_cast<Time>((bits + port.config.rate - 1) / port.config.rate);
    }

  private:
    std::uint32_t taken(const Packet* p) const { return (p->size + cell_ - 1) / cell_ * cell_; }

    static Time ready(const Port& port) {
        Time first = never;
        if (port.held) return first;
        for (const Queue& q : port.queue)
            if (q.first != nullptr) first = std::min(first, q.first->since);
        return std::max(first, port.free);
    }

    const std::uint32_t cell_;
    std::vector<Port> ports_;
    std::vector<std::uint16_t> active_;
};

}  // namespace polysome::p4
