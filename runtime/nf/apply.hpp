/// Field writes, and the checksums over what they changed (LANGUAGE.md L10.1, L10.2, L10.3).
#pragma once

#include <algorithm>
#include <span>

#include "nf/bits.hpp"
#include "nf/checksum.hpp"
#include "nf/few.hpp"
#include "nf/headers.hpp"
#include "nf/packet.hpp"
#include "nf/types.hpp"

namespace polysome {

/// A Parsed of any number of instances. Refers to the Parsed.
struct Places {
    const uint8_t* path;
    uint32_t depth;
    const uint32_t* offset;
    const uint32_t* header_end;
    const uint32_t* limit;
    uint32_t payload;
    uint32_t end;
    u128 valid;

    template <size_t N>
    explicit Places(const Parsed<N>& p)
        : path(p.path.data()),
          depth(p.depth),
          offset(p.offset.data()),
          header_end(p.header_end.data()),
          limit(p.limit.data()),
          payload(p.payload),
          end(p.end),
          valid(p.valid) {}

    bool has(size_t instance) const { return instance < 128 && (valid >> instance & 1) != 0; }
};

namespace detail {

/// Bytes `begin` to `end` of the packet changed: a field of whole bytes, or one byte. So each of them is in a range of
/// fields as a whole or not at all.
struct Change {
    uint32_t begin;
    uint32_t end;
    int64_t difference;  ///< new minus old of the 16-bit words, the first of which is at `begin`; the last is padded
};
using Changes = Few<Change, 24>;

/// Congruent to the sum of the 16-bit words of a number of whole bytes (at most 8 but 7), modulo 65535.
inline int64_t words(uint64_t value, uint32_t bytes) {
    if (bytes & 1) value <<= 8;
    return static_cast<int64_t>((value >> 32) + (value & 0xffffffff));
}
inline int64_t words(u128 value, uint32_t) {
    return words(static_cast<uint64_t>(value >> 64), 8) + words(static_cast<uint64_t>(value), 8);
}

/// Writes a field of whole bytes.
template <class T>
void write_whole(uint8_t* out, uint32_t at, T value, Changes& changes) {
    using Word = std::conditional_t<sizeof(T) == 16, u128, uint64_t>;
    const T before = load<T>(out + at);
    if (before == value) return;
    store<T>(out + at, value);
    constexpr uint32_t bytes = sizeof(T);
    changes.push_back({at, at + bytes, words(Word{value}, bytes) - words(Word{before}, bytes)});
}

/// Writes a field of six bytes: a MAC address.
inline void write_six(uint8_t* out, uint32_t at, uint64_t value, Changes& changes) {
    const uint64_t before = uint64_t{load<uint16_t>(out + at)} << 32 | load<uint32_t>(out + at + 2);
    if (before == value) return;
    store(out + at, static_cast<uint16_t>(value >> 32));
    store(out + at + 2, static_cast<uint32_t>(value));
    changes.push_back({at, at + 6, words(value, 6) - words(before, 6)});
}

/// Writes any field, byte by byte; bytes at or beyond `end` stay as they are.
inline void write_part(uint8_t* out, uint32_t bit, uint32_t width, u128 value, uint32_t end, Changes& changes) {
    const uint32_t first = bit >> 3, stop = std::min((bit + width + 7) >> 3, end);
    for (uint32_t i = first; i < stop; ++i) {
        write_whole(out, i, with_bits(out[i], bit, width, value, i - first), changes);
    }
}

/// Writes a field of the header that begins at byte `start` and ends at `end`.
inline void write_field(uint8_t* out, const FieldShape& field, uint32_t start, uint32_t end, u128 value,
                        Changes& changes) {
    const uint32_t at = start + (field.offset >> 3);
    if ((field.offset & 7) == 0 && at + (field.width >> 3) <= end) {
        switch (field.width) {
            case 8:
                return write_whole(out, at, static_cast<uint8_t>(value), changes);
            case 16:
                return write_whole(out, at, static_cast<uint16_t>(value), changes);
            case 32:
                return write_whole(out, at, static_cast<uint32_t>(value), changes);
            case 48:
                return write_six(out, at, static_cast<uint64_t>(value), changes);
            case 64:
                return write_whole(out, at, static_cast<uint64_t>(value), changes);
            case 128:
                return write_whole(out, at, value, changes);
            default:
                break;
        }
    }
    write_part(out, start * 8 + field.offset, field.width, value, end, changes);
}

/// How the words of a sum changed.
struct Difference {
    int64_t total = 0;
    bool any = false;

    /// The bytes from `low` to `high` are part of the sum, at an even distance from its start.
    void add(const Changes& changes, uint32_t low, uint32_t high) {
        for (const Change& c : changes) {
            if (c.begin < low || c.end > high) continue;
            total += c.difference << ((c.begin - low) & 1) * 8;
            any = true;
        }
    }
};

/// Adds what changed in the pseudo header of the header at `position`: the fields that the nearest enclosing header
/// with `pseudo` lists, each once and in whole bytes.
template <class Packet>
void add_pseudo(const Protocols& protocols, const Packet& p, size_t position, const Changes& changes,
                Difference& difference) {
    while (position-- > 0) {
        const uint8_t j = p.path[position];
        const HeaderShape& header = protocols.headers[protocols.instances[j].header];
        if (header.pseudo.empty()) continue;
        for (auto f = header.pseudo.begin(); f != header.pseudo.end(); ++f) {
            if (std::find(header.pseudo.begin(), f, *f) != f) continue;
            const uint32_t low = p.offset[j] + (header.fields[*f].offset >> 3);
            difference.add(changes, low, low + (header.fields[*f].width >> 3));
        }
        return;
    }
}

/// Brings one checksum up to date. Its own word, which its sum leaves out, is not among the changes yet.
template <class Packet>
void update(const Protocols& protocols, const Packet& p, size_t position, const FieldShape& field, uint8_t* out,
            Changes& changes) {
    const uint8_t i = p.path[position];
    const ChecksumShape& shape = *field.checksum;
    const uint32_t at = p.offset[i] + (field.offset >> 3);
    if (at + 2 > p.header_end[i]) return;  // a quote that was cut before its checksum
    Difference difference;
    if (shape.header) {
        const uint32_t high = shape.rest ? std::max(p.limit[i], p.header_end[i]) : p.header_end[i];
        difference.add(changes, p.offset[i], high);
    }
    if (shape.pseudo) add_pseudo(protocols, p, position, changes, difference);
    if (!difference.any) return;
    const auto old = load<uint16_t>(out + at);
    if (shape.zero_is_none && old == 0) return;
    uint16_t value = updated(old, difference.total);
    if (shape.never_zero && value == 0) value = 0xffff;
    write_whole(out, at, value, changes);
}

/// `apply` for a Parsed or Places.
template <class Packet>
void apply_edits(const Protocols& protocols, const Packet& p, std::span<const FieldEdit> edits, uint8_t* out) {
    Changes changes;
    for (const FieldEdit& edit : edits) {
        const size_t i = edit.instance;
        if (!p.has(i)) continue;
        const FieldShape& field = protocols.headers[protocols.instances[i].header].fields[edit.field];
        write_field(out, field, p.offset[i], p.header_end[i], edit.value, changes);
    }
    if (changes.empty()) return;
    for (size_t position = p.depth; position-- > 0;) {
        const HeaderShape& header = protocols.headers[protocols.instances[p.path[position]].header];
        for (const uint16_t f : header.checksums) update(protocols, p, position, header.fields[f], out, changes);
    }
}

}  // namespace detail

/// Writes `edits` into `out`, which holds the frame that `p` was parsed from, and updates every checksum over a changed
/// byte, innermost first: an updated one is itself a changed byte for outer ones. The packet's length.
///
/// Each field is written at most once, and no checksum field is. An edit of an instance that is not valid does nothing.
/// O(edits x checksums of the packet's headers); allocates only if more than two dozen fields and checksums change.
template <size_t N>
uint32_t apply(const Protocols& protocols, const Parsed<N>& p, std::span<const FieldEdit> edits, uint8_t* out) {
    if (!edits.empty()) detail::apply_edits(protocols, p, edits, out);
    return p.end;
}

/// A packet that leaves as it came: its length.
template <size_t N>
uint32_t apply(const Parsed<N>& p) {
    return p.end;
}

}  // namespace polysome
