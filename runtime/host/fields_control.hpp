/// What the service of an NF host (nf_control.hpp) asks of the loop that has the NF. Free of gRPC: the file that is
/// compiled for each NF needs none of its headers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/log.hpp"
#include "control/mailbox.hpp"
#include "host/fields_child.hpp"
#include "host/fields_ending.hpp"

namespace polysome::host {

/// Of NfConfig (control/control.proto), what a loop needs.
struct FieldsSettings {
    std::string interface;        ///< a network interface; DPDK: a PCI address or a virtual device
    std::vector<uint32_t> cores;  ///< the first one is where decisions are made; empty: any
};

/// What the NF is, known when it is compiled.
struct NfFacts {
    std::string_view name;
    std::string_view program;  ///< SHA-256 of the generated header, hexadecimal
    std::string_view layout;   ///< of its state: Nf::state_layout
    size_t ports;
};

/// A packet that the NF is for, and the logical port where it comes in.
struct Sample {
    uint16_t port;
    std::vector<uint8_t> packet;
};

struct NamedCount {
    std::string name;
    uint64_t value;
};

struct FieldsStatistics {
    std::vector<NamedCount> counters;
    std::vector<NamedCount> drops;  ///< by reason
    uint64_t held;
};

/// One look at the state.
struct LookupText {
    std::string state, operation, key, found;
};

/// What would become of a packet.
struct Outcome {
    uint64_t ports = 0;           ///< a mask of logical ports; 0: not sent
    uint64_t delay = 0;           ///< ns that the schedule holds it
    std::vector<uint8_t> packet;  ///< as it leaves
    std::string reason;           ///< why it is not sent
    std::vector<LookupText> lookups;
};

/// A loop with one NF. All of it belongs to the thread that calls run(); others go through the mailbox.
class FieldsLoop {
  public:
    virtual ~FieldsLoop() = default;

    /// The config from now on. Why it is none of this NF, or not all of one, in words; then it is not to be used.
    /// Empty: it is in force.
    virtual std::string configure(std::span<const uint8_t> blob) = 0;
    /// What configure() would say, and if that is nothing, why no sample gets through; the answer is text. No samples:
    /// that is not asked.
    virtual Child check(std::span<const uint8_t> blob, std::span<const Sample> samples) = 0;
    /// What would become of a packet that arrived now at a logical port? The answer is that of write_outcome.
    virtual Child attempt(uint16_t port, std::span<const uint8_t> packet) = 0;
    virtual FieldsStatistics statistics() = 0;
    /// Of the interface as it is now; zeros if it is gone.
    virtual std::array<uint8_t, 6> mac() = 0;

    /// Until it is over; with all that came in by then.
    virtual void run(control::Mailbox& mailbox, Ending& ending) = 0;

    /// All that the NF remembers and holds, and its clock, for another process of this machine.
    virtual std::vector<uint8_t> save() = 0;
    virtual uint64_t clock_offset() const = 0;
    /// At the start, before any config. False: the bytes are not those of such an NF, and this one is of no more use.
    virtual bool load(std::span<const uint8_t> state, uint64_t clock_offset) = 0;
};

using MakeLoop = std::function<std::unique_ptr<FieldsLoop>(control::Log&, const FieldsSettings&)>;

/// The program: reads NfConfig, opens the loop, serves the controller. `program`: its name in messages.
int fields_main(int argc, char** argv, const std::string& program, const NfFacts& facts, const MakeLoop& make);

// ---- an outcome as bytes, from the copy of the process to the one that asked

namespace detail {

inline void put(std::vector<uint8_t>& out, uint64_t value) {
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(value >> 8 * i));
}
template <class Bytes>
void put_bytes(std::vector<uint8_t>& out, const Bytes& bytes) {
    put(out, bytes.size());
    out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Takes values off the front; after a missing byte all are 0 and empty.
struct Taker {
    std::span<const uint8_t> rest;
    bool ok = true;

    uint64_t number() {
        if (rest.size() < 8) {
            ok = false;
            rest = {};
            return 0;
        }
        uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value |= uint64_t{rest[static_cast<size_t>(i)]} << 8 * i;
        rest = rest.subspan(8);
        return value;
    }
    template <class Bytes>
    Bytes bytes() {
        const uint64_t size = number();
        if (size > rest.size()) ok = false;
        const auto some = rest.first(static_cast<size_t>(ok ? size : 0));
        rest = rest.subspan(some.size());
        return {some.begin(), some.end()};
    }
};

}  // namespace detail

inline void write_lookups(const std::vector<LookupText>& lookups, std::vector<uint8_t>& out) {
    detail::put(out, lookups.size());
    for (const LookupText& one : lookups) {
        for (const std::string* text : {&one.state, &one.operation, &one.key, &one.found})
            detail::put_bytes(out, *text);
    }
}

/// False if the bytes are damaged.
inline bool read_lookups(std::span<const uint8_t> bytes, std::vector<LookupText>& lookups) {
    detail::Taker in{bytes};
    for (uint64_t n = in.number(); n != 0 && in.ok; --n) {
        LookupText& one = lookups.emplace_back();
        for (std::string* text : {&one.state, &one.operation, &one.key, &one.found}) *text = in.bytes<std::string>();
    }
    return in.ok && in.rest.empty();
}

inline void write_outcome(const Outcome& outcome, std::vector<uint8_t>& out) {
    detail::put(out, outcome.ports);
    detail::put(out, outcome.delay);
    detail::put_bytes(out, outcome.packet);
    detail::put_bytes(out, outcome.reason);
    write_lookups(outcome.lookups, out);
}

/// False if the bytes are damaged.
inline bool read_outcome(std::span<const uint8_t> bytes, Outcome& outcome) {
    detail::Taker in{bytes};
    outcome.ports = in.number();
    outcome.delay = in.number();
    outcome.packet = in.bytes<std::vector<uint8_t>>();
    outcome.reason = in.bytes<std::string>();
    return in.ok && read_lookups(in.rest, outcome.lookups);
}

}  // namespace polysome::host
