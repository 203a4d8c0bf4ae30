/// Packets that an NF makes itself (LANGUAGE.md L9.7).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nf/chain.hpp"
#include "nf/headers.hpp"

namespace polysome {

/// Fills `out` with the headers (pushes, outermost first) and the payload, which is no part of `out`. Next, length and
/// checksum fields are computed: every checksum whole (L10.4). O(bytes x checksums over them).
inline void make(const Protocols& protocols, const Operations& headers, std::span<const uint8_t> payload,
                 std::vector<uint8_t>& out) {
    detail::Leaving leaving;
    leaving.payload = static_cast<uint32_t>(payload.size());
    for (const Operation& operation : headers) {
        const HeaderShape& header = protocols.headers[operation.header];
        leaving.segments.push_back({.header = &header,
                                    .begin = leaving.headers,
                                    .size = header.fixed,
                                    .room = leaving.payload,
                                    .made = &operation});
        leaving.headers += header.fixed;
    }
    out.resize(leaving.headers + payload.size());
    leaving.bytes = out.data();
    for (const detail::Segment& segment : leaving.segments) detail::write_fresh(leaving, segment);
    std::ranges::copy(payload, leaving.bytes + leaving.headers);
    const detail::Arrived nothing_arrived;
    detail::set_next_fields(protocols, leaving, nothing_arrived);
    detail::set_lengths(leaving, nothing_arrived);
    for (uint32_t position = leaving.size(); position-- > 0;) {
        for (const uint16_t f : leaving[position].header->checksums) {
            const FieldShape& field = leaving[position].header->fields[f];
            detail::set_whole(leaving, position, field, field.checksum->zero_is_none);
        }
    }
}

}  // namespace polysome
