/// What an agent lends to the switch, and what it can be told to do: a region of memory and queue pairs that reach it.
/// Two devices are it: an RDMA NIC (verbs_device.hpp) and the software responder on a raw socket (soft_device.hpp).
///
/// All calls come from the agent's loop, one thread. Addresses and numbers are in host order. What a device cannot do
/// it says by control::Failure, in words for the operator: in the constructor it ends the agent, later it is the answer
/// to the request.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "control/log.hpp"
#include "rdma/roce.hpp"

namespace polysome::agent {

using control::Failure;
using rdma::Mac;

/// An AgentConfig that has been checked (settings.hpp).
struct Settings {
    std::string server;
    std::string device;  ///< "soft", or an RDMA device
    std::string interface;
    uint8_t device_port = 1;  ///< from 1
    uint32_t numa = 0;
    uint64_t region = 0;  ///< bytes
    uint32_t queue_pairs = 0;
    uint32_t mtu = 0;  ///< of the path: 256, 512, 1024, 2048 or 4096
    Mac switch_mac{};
    uint32_t switch_ip = 0;
    uint8_t outstanding_reads = 16;
    bool huge_pages = false;
};

/// What the switch must know to reach the region.
struct Identity {
    std::string device;
    Mac mac{};
    uint32_t ip = 0;
    uint32_t rkey = 0;
};

struct PairStatus {
    uint32_t number = 0;  ///< QPN, 24 bits
    uint32_t psn = 0;     ///< that was expected first after the last reset
    uint32_t peer = 0;    ///< the switch's number; 0: never reset
    bool ready = false;
};

struct Count {
    std::string name;
    uint64_t value = 0;
};

struct Condition {
    bool link = false;    ///< the port is active
    std::string trouble;  ///< in words; empty: none
    std::vector<Count> counters;
};

class Device {
  public:
    static constexpr uint64_t never = ~uint64_t{0};

    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    virtual const Identity& identity() const = 0;
    virtual std::vector<PairStatus> pairs() = 0;

    /// Makes pair `index` ready with a new number and PSN, in whatever state it is; what waited is gone, and requests
    /// to the old number have no effect. Answers go to the peer's number `peer` from then on.
    virtual PairStatus reset(uint32_t index, uint32_t peer) = 0;

    /// All pairs are silent until each is reset, then the region is full of ones. O(region).
    virtual void clear() = 0;

    virtual Condition condition() = 0;

    /// Readable when there is something for work() to do.
    virtual int descriptor() const = 0;
    /// When work() must be called though nothing is readable: ns of CLOCK_MONOTONIC, or `never`.
    virtual uint64_t next() const = 0;
    /// Does what there is to do at `now`, without waiting; may leave some for the next call. A Failure ends the agent.
    virtual void work(uint64_t now) = 0;
};

/// 24 random bits: a PSN, or a first queue pair number.
inline uint32_t random_24_bits() { return std::random_device{}() & rdma::PSN_MASK; }

}  // namespace polysome::agent
