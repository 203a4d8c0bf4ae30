/// Packets whose headers come and go: push, pop, truncate (LANGUAGE.md section 10).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nf/apply.hpp"
#include "nf/chain.hpp"
#include "nf/headers.hpp"
#include "nf/packet.hpp"

namespace polysome {

namespace detail {

/// The packet in `frame` as it is before its operations.
inline void arrive(const Protocols& protocols, const Places& p, const uint8_t* frame, Arrived& arrived) {
    for (const uint8_t i : std::span(p.path, p.depth)) {
        const InstanceShape& instance = protocols.instances[i];
        const uint32_t until = std::min(p.limit[i], p.end);
        arrived.segments.push_back({.header = &protocols.headers[instance.header],
                                    .begin = p.offset[i],
                                    .size = p.header_end[i] - p.offset[i],
                                    .room = until > p.payload ? until - p.payload : 0,
                                    .before = static_cast<uint32_t>(arrived.segments.size()),
                                    .instance = i,
                                    .quote = instance.quote});
    }
    arrived.bytes = frame;
    arrived.headers = p.payload;
    arrived.payload = p.end - p.payload;
}

/// Where the instance is in the chain, or its size.
inline size_t place_of(const Segments& chain, uint16_t instance) {
    size_t i = 0;
    while (i < chain.size() && (chain[i].fresh() || chain[i].instance != instance)) ++i;
    return i;
}

/// Marks and inserts headers in `chain`; how many bytes the packet may have.
inline uint64_t edit(const Protocols& protocols, const Operations& operations, Segments& chain) {
    uint64_t most = UINT64_MAX;
    for (const Operation& operation : operations) {
        switch (operation.kind) {
            case Operation::Kind::pop: {
                // New headers among them stay.
                const size_t last = place_of(chain, operation.last);
                for (size_t i = place_of(chain, operation.first); i <= last && i < chain.size(); ++i) {
                    chain[i].popped = !chain[i].fresh();
                }
                break;
            }
            case Operation::Kind::push: {
                const HeaderShape& header = protocols.headers[operation.header];
                const size_t place =
                    operation.before < 0 ? chain.size() : place_of(chain, static_cast<uint16_t>(operation.before));
                chain.insert(place, {.header = &header, .size = header.fixed, .made = &operation});
                break;
            }
            case Operation::Kind::truncate:
                most = std::min(most, operation.size);
                break;
        }
    }
    return most;
}

/// The headers that stay, in their places; a new one ends where the nearest header before it does that arrived.
inline void keep(const Segments& edited, uint32_t payload, Leaving& leaving) {
    uint32_t room = payload;
    for (const Segment& segment : edited) {
        if (segment.popped) continue;
        leaving.segments.push_back(segment);
        Segment& kept = leaving.segments[leaving.segments.size() - 1];
        kept.begin = leaving.headers;
        if (kept.fresh()) kept.room = room;
        room = kept.room;
        leaving.headers += kept.size;
    }
}

/// Writes the bytes of the packet that leaves, before its next, length and checksum fields are set.
inline void copy(const Arrived& arrived, uint64_t most, Leaving& leaving, std::vector<uint8_t>& out) {
    const uint64_t room = most > leaving.headers ? most - leaving.headers : 0;
    leaving.payload = static_cast<uint32_t>(std::min<uint64_t>(arrived.payload, room));
    out.resize(leaving.headers + leaving.payload);
    leaving.bytes = out.data();
    for (const Segment& segment : leaving.segments) {
        if (segment.fresh()) {
            write_fresh(leaving, segment);
        } else {
            std::ranges::copy(arrived.data(arrived[segment.before]), leaving.bytes + segment.begin);
        }
    }
    std::ranges::copy(arrived.all_payload().first(leaving.payload), leaving.bytes + leaving.headers);
}

/// The position from which on all headers and the payload are what they were.
inline uint32_t same_from(const Leaving& leaving, const Arrived& arrived) {
    uint32_t position = leaving.size(), was = arrived.size();
    if (leaving.payload != arrived.payload) return position;
    for (; position > 0 && was > 0 && leaving[position - 1].before == was - 1; --position, --was) {
        if (!std::ranges::equal(leaving.data(leaving[position - 1]), arrived.data(arrived[was - 1]))) break;
    }
    return position;
}

/// One checksum of a header that was there before: updated by what changed under it.
inline void update(const Leaving& leaving, const Arrived& arrived, uint32_t position, const FieldShape& f) {
    const Segment& segment = leaving[position];
    const auto value = static_cast<uint16_t>(leaving.get(segment, f));
    if (f.checksum->zero_is_none && value == 0) return;
    const Covered now(leaving, position, f), was(arrived, segment.before, f);
    if (now == was) return;
    const uint16_t found = updated(value, int64_t{now.sum().value()} - int64_t{was.sum().value()});
    leaving.set(segment, f, f.checksum->never_zero && found == 0 ? 0xffff : found);
}

/// Innermost first: new headers' are computed (or none), others' updated.
inline void set_checksums(const Leaving& leaving, const Arrived& arrived) {
    const uint32_t same = same_from(leaving, arrived);
    for (uint32_t position = leaving.size(); position-- > 0;) {
        const Segment& segment = leaving[position];
        if (segment.quote) continue;
        for (const uint16_t index : segment.header->checksums) {
            const FieldShape& f = segment.header->fields[index];
            if (segment.fresh() && f.checksum->zero_is_none) {
                leaving.set(segment, f, 0);
                continue;
            }
            const uint32_t first = f.checksum->pseudo ? leaving.enclosing(position) : position;
            if (first != nothing && first >= same) continue;
            if (segment.fresh()) {
                set_whole(leaving, position, f, false);
            } else {
                update(leaving, arrived, position, f);
            }
        }
    }
}

}  // namespace detail

/// Fills `out` with the packet in `frame` after `edits` (as by `apply`, which changes `frame`) and its pops, pushes and
/// truncation. `out` is no part of `frame`. Instances that operations name are valid; a pop's `first` is not behind its
/// `last`. O(bytes of the packet + headers x operations).
inline void rebuild(const Protocols& protocols, const Places& p, std::span<const FieldEdit> edits,
                    const Operations& operations, uint8_t* frame, std::vector<uint8_t>& out) {
    detail::apply_edits(protocols, p, edits, frame);
    detail::Arrived arrived;
    detail::arrive(protocols, p, frame, arrived);
    detail::Segments edited;
    for (const detail::Segment& segment : arrived.segments) edited.push_back(segment);
    const uint64_t most = detail::edit(protocols, operations, edited);
    detail::Leaving leaving;
    detail::keep(edited, arrived.payload, leaving);
    detail::copy(arrived, most, leaving, out);
    detail::set_next_fields(protocols, leaving, arrived);
    detail::set_lengths(leaving, arrived);
    detail::set_checksums(leaving, arrived);
}

template <size_t N>
void rebuild(const Protocols& protocols, const Parsed<N>& p, std::span<const FieldEdit> edits,
             const Operations& operations, uint8_t* frame, std::vector<uint8_t>& out) {
    rebuild(protocols, Places(p), edits, operations, frame, out);
}

}  // namespace polysome
