/// A packet as a chain of headers and a payload: what `rebuild` and `make` share (LANGUAGE.md L9.7, L10.4 to L10.6).
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "nf/bits.hpp"
#include "nf/checksum.hpp"
#include "nf/few.hpp"
#include "nf/headers.hpp"
#include "nf/packet.hpp"
#include "nf/types.hpp"

namespace polysome::detail {

inline constexpr uint32_t nothing = UINT32_MAX;

/// A header in a chain; `given` are the fields of a new one.
struct Segment {
    const HeaderShape* header;
    uint32_t begin = 0;         ///< its first byte in the chain's bytes
    uint32_t size = 0;          ///< in bytes
    uint32_t room = 0;          ///< how many of the payload's bytes belong to it
    uint32_t before = nothing;  ///< its place in the chain that arrived; `nothing` if it is new
    uint16_t instance = 0;      ///< of one that arrived
    bool quote = false;         ///< what is left of another packet: only field writes change it (L10.3)
    bool popped = false;
    const Operation* made = nullptr;  ///< what made a new one

    bool fresh() const { return before == nothing; }
    const FieldShape* next() const { return header->next < 0 ? nullptr : &header->fields[header->next]; }
};

using Segments = Few<Segment, 16>;

/// Headers without gaps from byte 0 of `bytes`, then `payload` bytes.
template <class Byte>
struct Chain {
    Segments segments;
    Byte* bytes = nullptr;
    uint32_t headers = 0;  ///< bytes of all headers
    uint32_t payload = 0;

    uint32_t size() const { return static_cast<uint32_t>(segments.size()); }
    const Segment& operator[](uint32_t position) const { return segments[position]; }

    u128 get(const Segment& s, const FieldShape& f) const {
        return f.width == 0 ? 0 : read_bits(bytes + s.begin, f.offset, f.width, s.size);
    }
    void set(const Segment& s, const FieldShape& f, u128 value) const {
        if (f.width != 0) write_bits(bytes + s.begin, f.offset, f.width, value, s.size);
    }
    std::span<const uint8_t> data(const Segment& s) const { return {bytes + s.begin, s.size}; }
    std::span<const uint8_t> all_payload() const { return {bytes + headers, payload}; }

    /// What belongs to the header at `position` behind it: it is in one piece.
    std::span<const uint8_t> rest(uint32_t position) const {
        const Segment& s = segments[position];
        const uint32_t from = s.begin + s.size;
        return {bytes + from, headers - from + std::min(payload, s.room)};
    }
    /// The nearest header before that lists a pseudo header, or `nothing`.
    uint32_t enclosing(uint32_t position) const {
        while (position-- > 0) {
            if (!segments[position].header->pseudo.empty()) return position;
        }
        return nothing;
    }
};

using Arrived = Chain<const uint8_t>;
using Leaving = Chain<uint8_t>;

/// Writes a new header: the given fields, what they are at first elsewhere.
inline void write_fresh(const Leaving& chain, const Segment& s) {
    std::fill_n(chain.bytes + s.begin, s.size, uint8_t{0});
    for (const FieldShape& f : s.header->fields) {
        if (f.initial != 0) chain.set(s, f, f.initial);
    }
    for (const Given& given : s.made->given) chain.set(s, s.header->fields[given.field], given.value);
}

// ---- next fields

/// The number that `next` fields of the enum have before a header; false if it has none.
inline bool next_number(const Protocols& protocols, int16_t enumeration, const HeaderShape& header, u128& number) {
    for (const NextNumber& named : protocols.enums[enumeration]) {
        if (&protocols.headers[named.header] == &header) {
            number = named.number;
            return true;
        }
    }
    return false;
}

/// What was said about the header that follows, where it came from; else the member named like it (L10.5).
inline void set_next_fields(const Protocols& protocols, const Leaving& leaving, const Arrived& arrived) {
    for (uint32_t position = 0; position < leaving.size(); ++position) {
        const Segment& segment = leaving[position];
        const FieldShape* f = segment.next();
        if (f == nullptr || segment.quote) continue;
        const Segment* follower = position + 1 < leaving.size() ? &leaving[position + 1] : nullptr;
        const uint32_t came = follower == nullptr ? arrived.size() : follower->fresh() ? 0 : follower->before;
        if (came > 0) {
            const Segment& ahead = arrived[came - 1];
            if (const FieldShape* said = ahead.next(); said != nullptr && said->next == f->next) {
                leaving.set(segment, *f, arrived.get(ahead, *said));
                continue;
            }
        }
        u128 number = 0;
        if (follower != nullptr && next_number(protocols, f->next, *follower->header, number)) {
            leaving.set(segment, *f, number);
        }
    }
}

// ---- lengths

/// The length fields of one header: `rest` bytes belong to it now, `was` did if it `came` with the packet. `cut`: it
/// lost bytes of the payload, so it must not say more than there is.
inline void set_length_fields(const Leaving& leaving, const Segment& segment, uint64_t rest, bool came, uint64_t was,
                              bool cut) {
    for (const FieldShape& f : segment.header->fields) {
        if (f.length == nullptr) continue;
        const u128 actual = f.length(segment.size, rest);
        u128 value = actual;
        if (came) {
            const u128 said = leaving.get(segment, f), there = f.length(segment.size, was);
            // As integers, said + actual - there is at most actual if said is at most there.
            if (!cut || said <= there) value = said + actual - there;
        }
        leaving.set(segment, f, value);
    }
}

/// Length fields of new headers; others change by as much as what they say (L10.6).
inline void set_lengths(const Leaving& leaving, const Arrived& arrived) {
    for (uint32_t position = 0; position < leaving.size(); ++position) {
        const Segment& segment = leaving[position];
        if (segment.quote) continue;
        const uint64_t rest = leaving.rest(position).size();
        const uint64_t was = segment.fresh() ? 0 : arrived.rest(segment.before).size();
        if (!segment.fresh() && was == rest) continue;
        const bool cut = leaving.payload < std::min(segment.room, arrived.payload);
        set_length_fields(leaving, segment, rest, !segment.fresh(), was, cut);
    }
}

// ---- checksums

/// What a checksum is the sum of, its own field zero: pseudo header, header, rest. Refers to the chain's bytes.
class Covered {
  public:
    template <class Byte>
    Covered(const Chain<Byte>& chain, uint32_t position, const FieldShape& own) {
        const Segment& segment = chain[position];
        const ChecksumShape& shape = *own.checksum;
        const std::span<const uint8_t> rest = chain.rest(position), data = chain.data(segment);
        if (shape.pseudo) add_pseudo(chain, position, data.size() + rest.size());
        if (shape.header) {
            // All of it is there: only quotes are cut, and theirs are not computed.
            const size_t at = own.offset / 8;
            pieces_[1] = data.first(at);
            pieces_[2] = zeros;
            pieces_[3] = data.subspan(at + 2);
        }
        if (shape.rest) pieces_[4] = rest;
    }
    Covered(const Covered&) = delete;
    Covered& operator=(const Covered&) = delete;

    Sum sum() const {
        Sum sum;
        sum.add({pseudo_.begin(), pseudo_.size()});
        for (const auto& piece : pieces_) sum.add(piece);
        return sum;
    }

    /// Are they the same bytes?
    bool operator==(const Covered& other) const {
        auto a = pieces(), b = other.pieces();
        size_t i = 0, j = 0;
        while (true) {
            while (i < a.size() && a[i].empty()) ++i;
            while (j < b.size() && b[j].empty()) ++j;
            if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
            const size_t both = std::min(a[i].size(), b[j].size());
            if (std::memcmp(a[i].data(), b[j].data(), both) != 0) return false;
            a[i] = a[i].subspan(both);
            b[j] = b[j].subspan(both);
        }
    }

  private:
    static constexpr std::array<uint8_t, 2> zeros{};
    using Pieces = std::array<std::span<const uint8_t>, 5>;

    /// The fields that the nearest enclosing header lists, in whole words; the next field of the header directly
    /// before; the length.
    template <class Byte>
    void add_pseudo(const Chain<Byte>& chain, uint32_t position, uint64_t length) {
        const uint32_t place = chain.enclosing(position);
        if (place == nothing) return;
        const Segment& enclosing = chain[place];
        for (const uint16_t index : enclosing.header->pseudo) {
            const FieldShape& f = enclosing.header->fields[index];
            put(chain.get(enclosing, f), (f.width + 15u) / 16 * 2);
        }
        const Segment& ahead = chain[position - 1];
        const FieldShape* said = ahead.next();
        put(said == nullptr ? 0 : chain.get(ahead, *said), 16);
        put(length, 8);
    }
    void put(u128 value, uint32_t bytes) {
        for (uint32_t i = bytes; i-- > 0;) pseudo_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
    Pieces pieces() const {
        Pieces all = pieces_;
        all[0] = {pseudo_.begin(), pseudo_.size()};
        return all;
    }

    Few<uint8_t, 80> pseudo_;
    Pieces pieces_;  ///< the first one is empty here
};

/// The checksum of a header that is new.
inline void set_whole(const Leaving& leaving, uint32_t position, const FieldShape& f, bool none_is_ffff) {
    const uint16_t value = Covered(leaving, position, f).sum().checksum();
    leaving.set(leaving[position], f, none_is_ffff && value == 0 ? 0xffff : value);
}

}  // namespace polysome::detail
