/// What is measured: a network function at work on the trace, with its own time; or something to compare it with.
#pragma once

#include <x86intrin.h>

#include <span>
#include <string_view>

#include "trace.hpp"

namespace polysome::bench {

class Column {
  public:
    virtual ~Column() = default;
    /// Decides about whole packets that arrive at `now`, at most MOST, and rewrites them.
    virtual void batch(std::span<Packet> packets, uint64_t now) = 0;
    /// What `pass` walks through; it must outlive this. `far`: do the entries of its flows lie beyond the last cache?
    virtual void load(const Trace& trace, bool far) {
        trace_ = &trace;
        far_ = far;
    }
    /// The next packets of the trace, at least so many, in batches of the column's own size: this is what is timed.
    virtual void pass(size_t packets) = 0;
    /// One batch of the trace per element, which becomes its cycles of the time stamp counter per packet.
    virtual void time_batches(std::span<double> cycles) = 0;
    virtual size_t batch_size() const = 0;
    /// Packets made by the network function itself so far.
    virtual uint64_t emitted() const { return 0; }
    /// Where these go.
    virtual void emit_to(Emit, void*) {}

    /// Time after so many packets more, in ns.
    uint64_t later(size_t packets) { return now_ += packets * NS_PER_PACKET; }

    size_t cursor = 0;      ///< where it is in the trace
    uint64_t resident = 0;  ///< bytes that this process grew by while flows were opened

  protected:
    const Trace* trace_ = nullptr;
    bool far_ = false;
    uint64_t now_ = 1'000'000'000'000'000'000;
};

/// `Made` has `BATCH_SIZE`, its best if entries are far (if not, no column is faster with more than 32), and
/// `step(at)`: the packets of the trace from `at` on.
template <class Made>
class ColumnOf : public Column {
  public:
    void pass(size_t packets) final {
        for (size_t done = 0; done < packets; done += batch_size()) self().step(next());
    }
    void time_batches(std::span<double> cycles) final {
        for (double& one : cycles) {
            const uint64_t start = __rdtsc();
            self().step(next());
            one = static_cast<double>(__rdtsc() - start) / static_cast<double>(batch_size());
        }
    }
    size_t batch_size() const final { return far_ ? Made::BATCH_SIZE : std::min<size_t>(Made::BATCH_SIZE, 32); }

  private:
    Made& self() { return static_cast<Made&>(*this); }
    size_t next() {
        const size_t at = cursor + batch_size() > trace_->order.size() ? 0 : cursor;
        cursor = at + batch_size();
        return at;
    }
};

/// A rival; see rivals/rival.hpp.
template <class Rival>
class RivalColumn final : public ColumnOf<RivalColumn<Rival>> {
  public:
    static constexpr size_t BATCH_SIZE = Rival::BATCH_SIZE;

    template <class Setup>
    explicit RivalColumn(const Setup& setup) : nf_(setup) {}
    void batch(std::span<Packet> packets, uint64_t now) override { nf_.batch(packets, now); }
    void step(size_t at) {
        const size_t n = this->batch_size();
        this->trace_->copy(at, n, buffers_);
        nf_.batch(buffers_.first(n), this->later(n));
    }
    uint64_t emitted() const override {
        if constexpr (requires { nf_.emitted(); }) return nf_.emitted();
        return 0;
    }
    void emit_to(Emit emit, void* to) override {
        if constexpr (requires { nf_.emit_to(emit, to); }) nf_.emit_to(emit, to);
    }

  private:
    Rival nf_;
    Buffers buffers_;
};

/// The frames are copied, as all of the above begin with, and nothing is done with them.
class SourceColumn final : public ColumnOf<SourceColumn> {
  public:
    static constexpr size_t BATCH_SIZE = 32;

    void batch(std::span<Packet>, uint64_t) override {}
    void step(size_t at) {
        trace_->copy(at, BATCH_SIZE, buffers_);
        asm volatile("" : : "r"(&buffers_) : "memory");
    }

  private:
    Buffers buffers_;
};

}  // namespace polysome::bench
