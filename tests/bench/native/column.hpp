/// What is measured: a network function at work on the trace, with its own time.
#pragma once

#include <span>

#include "trace.hpp"

namespace polysome::bench {

class Column {
  public:
    virtual ~Column() = default;
    /// Decides about whole packets, at most BATCH, and rewrites them.
    void batch(std::span<Packet> packets) { run(packets, later(packets.size())); }
    /// What `step` walks through; it must outlive this.
    virtual void load(const Trace& trace) { trace_ = &trace; }
    /// The BATCH packets of the trace from `at` on: this is what is timed.
    virtual void step(size_t at) {
        trace_->copy(at, buffers_);
        batch(buffers_.packets);
    }
    /// Packets made by the network function itself so far.
    virtual uint64_t emitted() const = 0;

    size_t cursor = 0;      ///< where it is in the trace
    uint64_t resident = 0;  ///< bytes that this process grew by while flows were opened

  protected:
    virtual void run(std::span<Packet> packets, uint64_t now) = 0;
    /// Time after so many packets more, in ns.
    uint64_t later(size_t packets) { return now_ += packets * NS_PER_PACKET; }

  private:
    uint64_t now_ = 1'000'000'000'000'000'000;
    const Trace* trace_ = nullptr;
    Buffers buffers_;
};

}  // namespace polysome::bench
