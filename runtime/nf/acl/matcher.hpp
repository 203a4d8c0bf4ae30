/// What a row of an ACL asks of one component of the key (STATE.md, S11.1).
#pragma once

#include "nf/reader.hpp"
#include "nf/types.hpp"

namespace polysome {

struct Matcher {
    enum class Kind : uint8_t { any, exact, range, prefix } kind = Kind::any;
    u128 low = 0, high = 0;  ///< range: both belong to it, empty if low > high; exact: `low`
    Prefix prefix;

    bool matches(u128 component, unsigned width) const {
        switch (kind) {
            case Kind::exact:
                return component == low;
            case Kind::range:
                return low <= component && component <= high;
            case Kind::prefix:
                return prefix.contains(component, width);
            default:
                return true;
        }
    }

    /// The range of numbers of `width` bits that match; empty if none do.
    Matcher as_range(unsigned width) const {
        Matcher range = {.kind = Kind::range, .low = low, .high = high, .prefix = {}};
        switch (kind) {
            case Kind::any:
                range.low = 0, range.high = ~u128{0};
                break;
            case Kind::exact:
                range.high = low;
                break;
            case Kind::range:
                break;
            case Kind::prefix: {
                range.low = 1, range.high = 0;
                if (prefix.bits != width) break;
                const unsigned open = prefix.bits - prefix.length;
                range.low = prefix.value;
                range.high = range.low | (open == 128 ? ~u128{0} : (u128{1} << open) - 1);
                break;
            }
        }
        return range;
    }
};

inline void read(Reader& reader, Matcher& matcher) {
    matcher = {};
    const auto kind = reader.next<uint8_t>();
    matcher.kind = static_cast<Matcher::Kind>(kind);
    if (kind == 1 || kind == 2) reader.get(matcher.low);
    if (kind == 2) reader.get(matcher.high);
    if (kind == 3) reader.get(matcher.prefix);
    if (kind > 3) reader.fail();
    if (!reader.ok()) matcher = {};
}

}  // namespace polysome
