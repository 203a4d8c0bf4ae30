/// A hand-made NF whose packets say what is to happen: for the tests of the machine, the policies and the hosts.
///
/// Byte 0 is what the handler does: 's' sends to the ports of the mask in byte 1; 'd' drops; 'e' emits byte 2 to port
/// 1, then sends as 's'; 'k' keeps an entry that ends byte 2 ns later, then sends; 'b' writes '!' over byte 0, then
/// sends; 't' sends, but the policy's values trap; 'z' is shorter than its header claims, and sends. Byte 3 is the
/// class (and its shard), bytes 4 and 5 the policy's values. The config blob is one byte: all packets are dropped if it
/// is 0.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nf/machine.hpp"
#include "nf/packet.hpp"

namespace polysome::tiny {

inline Settings& settings() {
    static Settings value;
    return value;
}

/// Bytes of entries that the NF says it has.
inline size_t& remembered() {
    static size_t bytes = 0;
    return bytes;
}
/// Packets parsed so far.
inline size_t& parsed() {
    static size_t packets = 0;
    return packets;
}

template <template <class> class PolicyOf, bool timers = true>
struct Nf {
    static constexpr std::string_view name = "tiny";
    static constexpr std::array<std::string_view, 4> port_names = {"a", "b", "c", "d"};
    static constexpr std::array<std::string_view, 12> reasons = {
        "",           "no handler",        "short frame",  "empty port set",
        "policed",    "longer than burst", "rate too low", "no free class",
        "queue full", "buffer full",       "told to",      "trapped"};
    static constexpr auto periods = [] {
        if constexpr (timers) {
            return std::array<uint64_t, 2>{100, 250};
        } else {
            return std::array<uint64_t, 0>{};
        }
    }();
    using ClassKey = std::array<uint64_t, 1>;
    using Policy = PolicyOf<ClassKey>;
    struct Fields {
        const uint8_t* data;
        uint32_t size;
    };
    struct Packet {
        struct {
        } ahead;
        Parsed<1> headers;
        Fields fields;
        bool handled, skipped;
    };
    using Verdict = PortsVerdict;
    struct Edits {
        void clear() {}
    };

    Nf(std::span<const uint64_t>, bool, Emitter& emitter) : emitter_(&emitter) {}
    static Settings settings(std::span<const uint64_t>) { return tiny::settings(); }

    bool configure(std::span<const uint8_t> blob) {
        if (blob.size() != 1) return false;
        open_ = blob[0] != 0;
        if (log != nullptr) log->push_back("config " + std::to_string(clock.now));
        return true;
    }
    bool handles(uint16_t port) const { return port < 3; }
    void parse(const uint8_t* data, uint32_t size, uint16_t port, Packet& packet) const {
        ++parsed();
        packet.headers.begin(data, size, port);
        packet.fields = {data, size};
        packet.skipped = false;
        if (size > 0 && data[0] == 'z') packet.headers.narrow(size + 1);
    }
    void skip(Packet& packet) const { packet.skipped = true; }
    void prepare(Packet&) const {}
    static void hash_together(auto) {}
    size_t remembered() const { return tiny::remembered(); }
    void prefetch_entries(Packet&) const {}
    static constexpr bool emits = true;
    template <class Use, class Rare>
    static void with_fields(const Packet& packet, Use use, Rare rare) {
        if (packet.skipped) return rare();
        use(packet.fields);
    }
    template <class Use>
    static void with_rare_fields(const Packet& packet, Use use) {
        use(packet.fields);
    }
    Verdict decide(const Fields& fields, const Packet&, Edits&) {
        const uint8_t op = byte(fields, 0);
        if (!open_ || op == 'd') return drop(10);
        if (op == 'e') {
            const uint8_t made = byte(fields, 2);
            emitter_->emitted(1, &made, 1);
        }
        if (op == 'k') entries_.push_back(clock.now + byte(fields, 2));
        return send_to(byte(fields, 1));
    }
    std::span<const uint8_t> apply(const Fields& fields, const Edits&, const Packet& packet, uint8_t* frame,
                                   std::vector<uint8_t>&) {
        if (byte(fields, 0) == 'b') frame[0] = '!';
        return {frame, packet.headers.size};
    }
    uint64_t next_due(uint64_t by) const {
        const auto first = std::min_element(entries_.begin(), entries_.end());
        return first == entries_.end() || *first > by ? NEVER : *first;
    }
    void expire_one() {
        entries_.erase(std::min_element(entries_.begin(), entries_.end()));
        if (log != nullptr) log->push_back("end " + std::to_string(clock.now));
        const uint8_t made = 'E';
        emitter_->emitted(2, &made, 1);
    }
    void every(size_t i) {
        if (log != nullptr) log->push_back("every" + std::to_string(i) + " " + std::to_string(clock.now));
    }
    ClassKey class_of(const Fields& fields) const { return {byte(fields, 3)}; }
    static constexpr size_t most_class_bytes = 1;
    size_t class_bytes(const Packet& packet, uint8_t* out) const {
        *out = byte(packet.fields, 3);
        return 1;
    }
    uint16_t args_of(const Fields& fields, const Edits&, uint64_t args[2]) const {
        if (byte(fields, 0) == 't') return 11;
        args[0] = byte(fields, 4);
        args[1] = byte(fields, 5);
        return 0;
    }
    bool passes(const Packet& packet) const { return packet.headers.size > 3; }
    static uint32_t core(const Packet& packet, uint32_t cores) { return byte(packet.fields, 3) % cores; }
    template <class Archive>
    void carry(Archive& archive) {
        archive(clock.now, open_, entries_);
    }

    Clock clock;
    std::vector<std::string>* log = nullptr;

  private:
    static uint8_t byte(const Fields& fields, uint32_t i) { return i < fields.size ? fields.data[i] : 0; }

    Emitter* emitter_;
    bool open_ = true;
    std::deque<uint64_t> entries_;
};

/// Writes down what happens: "left PORT TIME BYTE0 ORDER", "emitted PORT TIME BYTE0 CAUSE", "dropped ORDER REASON".
struct Log {
    std::vector<std::string> lines;

    void left(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t order) {
        add("left", port, time, bytes, order);
    }
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t cause) {
        add("emitted", port, time, bytes, cause);
    }
    void dropped(uint64_t order, uint16_t reason) {
        lines.push_back("dropped " + std::to_string(order) + " " + std::to_string(reason));
    }
    template <class Packet>
    void decided(uint64_t, uint64_t, const Packet&) {}

  private:
    void add(const char* what, uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t order) {
        lines.push_back(std::string(what) + " " + std::to_string(port) + " " + std::to_string(time) + " " +
                        std::string(1, static_cast<char>(bytes.empty() ? '-' : bytes[0])) + " " +
                        (order == no_packet ? "none" : std::to_string(order)));
    }
};

}  // namespace polysome::tiny
