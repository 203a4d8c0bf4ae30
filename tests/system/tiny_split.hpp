// A hand-made NF whose packets travel as fields: tiny_nf.hpp's, with the first six bytes of a packet for its fields and
// the first one for its edit.
#pragma once

#include "tiny_nf.hpp"

namespace polysome::tiny {

template <template <class> class PolicyOf, bool timers = false>
struct SplitNf : Nf<PolicyOf, timers> {
    using Base = Nf<PolicyOf, timers>;
    using Packet = typename Base::Packet;
    static constexpr size_t most_fields = 6;
    static constexpr size_t edits_frame = 60;
    static constexpr bool emits = true;

    using Base::Base;

    bool parse_fields(uint8_t number, std::span<const uint8_t> bytes, uint32_t length, uint16_t port, Packet& p) const {
        p.headers.begin(bytes.data(), length, port);
        return number == 1 && bytes.size() >= most_fields;
    }
    void prepare_frame(Packet&) const {}
    Verdict decide_frame(Packet& p) { return Base::decide(p); }
    typename Base::ClassKey order_class_frame(const Packet& p) const { return Base::order_class(p); }
    uint16_t policy_args_frame(Packet& p, uint64_t args[2]) const { return Base::policy_args(p, args); }
    size_t write_edits(const Packet& p, uint8_t* out) const {
        out[0] = p.headers.data[0] == 'b' ? '!' : p.headers.data[0];
        return 1;
    }
};

}  // namespace polysome::tiny
