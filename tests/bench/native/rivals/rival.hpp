/// What the rivals have in common: network functions as an expert writes them by hand, for untagged Ethernet, IPv4, TCP
/// and UDP. Each is a template over its column:
///
///   Equal        does what the spec says, to the nanosecond, the entry and the bit: test_rivals.py holds it to that
///   Approximate  does what people do: entries end when somebody comes across them, and a sample says which is oldest
///
/// A rival is `template <class Column> class Rival`, made of a Setup, with `batch(packets, now)`, which decides about
/// packets that arrive at one time (ns, never less than before) and rewrites them, and `BATCH_SIZE`, how many it is
/// fastest with where entries are far. Batches have at most MOST packets. One that makes packets itself has `emitted()`
/// and `emit_to`.
#pragma once

#include <cstdint>
#include <vector>

#include "../trace.hpp"

namespace polysome::bench {

using Rows = std::vector<std::vector<uint64_t>>;  ///< a config table: numbers only

/// What a rival is started with.
struct Setup {
    uint64_t flows = 0;  ///< that there is room for, in each of its maps
    Rows rows;           ///< its config: native_nfs.py says what there is
};

struct Equal {
    static constexpr bool exact = true;
};
struct Approximate {
    static constexpr bool exact = false;
};

}  // namespace polysome::bench
