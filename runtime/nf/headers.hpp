/// What generated code says about the headers of a program: enough to write fields, to move headers, and to keep
/// next fields, lengths and checksums right (LANGUAGE.md L4.5, section 10).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// What the value of a `length(...)` field is, from the bytes of its header and of what follows it.
using LengthOf = uint64_t (*)(uint64_t header, uint64_t rest);

/// A checksum field: RFC 1071 over these parts. `zero_is_none`: 0 says that there is none, and stays (RFC 768).
/// `never_zero`: an update whose result is 0 makes it ffff, which is right whatever is covered; 0 is wrong for zeros.
struct ChecksumShape {
    bool pseudo = false;
    bool header = false;
    bool rest = false;
    bool zero_is_none = false;
    bool never_zero = false;
};

/// A field: `offset` and `width` in bits from the header's first byte; `width` 0 is a `rest` field.
struct FieldShape {
    std::string_view name;
    uint16_t offset = 0;
    uint16_t width = 0;
    u128 initial = 0;                         ///< what `push` and `emit` put there if nothing is given
    LengthOf length = nullptr;                ///< of a length field
    const ChecksumShape* checksum = nullptr;  ///< of a checksum field
    int16_t next = -1;                        ///< of a next field: the enum, an index into Protocols::enums
};

/// A header type.
struct HeaderShape {
    std::string_view name;
    uint16_t fixed = 0;  ///< bytes of the fixed fields
    std::span<const FieldShape> fields;
    std::span<const uint16_t> pseudo;     ///< fields that `pseudo` lists
    std::span<const uint16_t> checksums;  ///< its checksum fields
    int16_t next = -1;                    ///< its first next field
};

/// A header as the parser names it; a `quote` may be cut and is only changed by field writes (L4.9, L10.3).
struct InstanceShape {
    std::string_view name;
    uint16_t header = 0;  ///< index into Protocols::headers
    bool quote = false;
};

/// The number that a next field has before a header type.
struct NextNumber {
    uint16_t header = 0;
    u128 number = 0;
};

/// All headers of a program. `enums[e]` lists what next fields of enum e say.
struct Protocols {
    std::span<const HeaderShape> headers;
    std::span<const InstanceShape> instances;
    std::span<const std::span<const NextNumber>> enums;
};

/// A field write: `value` has at most the field's width.
struct FieldEdit {
    uint16_t instance = 0;
    uint16_t field = 0;
    u128 value = 0;
};

/// A field's value in a new header.
struct Given {
    uint16_t field = 0;
    u128 value = 0;
};

/// A push, pop or truncation; or, in `emit`, a header.
struct Operation {
    enum class Kind : uint8_t { push, pop, truncate } kind = Kind::push;
    uint16_t header = 0;  ///< push
    int16_t before = -1;  ///< push: the instance it goes before; -1: the payload
    uint16_t first = 0;   ///< pop: instances
    uint16_t last = 0;
    uint64_t size = 0;           ///< truncate
    std::vector<Given> given{};  ///< push
};
using Operations = std::vector<Operation>;

}  // namespace polysome
