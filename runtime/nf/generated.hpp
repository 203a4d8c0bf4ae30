/// Everything that a generated NF is made of, and the small functions that only generated code calls.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "nf/acl.hpp"
#include "nf/apply.hpp"
#include "nf/bloom.hpp"
#include "nf/canonical.hpp"
#include "nf/count_min.hpp"
#include "nf/edit.hpp"
#include "nf/emit.hpp"
#include "nf/flow_map.hpp"
#include "nf/headers.hpp"
#include "nf/hyperloglog.hpp"
#include "nf/list_table.hpp"
#include "nf/lpm.hpp"
#include "nf/maglev.hpp"
#include "nf/map_table.hpp"
#include "nf/packet.hpp"
#include "nf/policies.hpp"
#include "nf/pool.hpp"
#include "nf/reader.hpp"
#include "nf/rebuild.hpp"
#include "nf/set_table.hpp"
#include "nf/siphash.hpp"
#include "nf/text.hpp"
#include "nf/token_bucket.hpp"
#include "nf/top_k.hpp"
#include "nf/types.hpp"

namespace polysome {

/// Bytes `low` to `high` of a frame; none if there are none.
inline std::span<const uint8_t> between(const uint8_t* data, uint32_t low, uint32_t high) {
    return {data + low, high > low ? high - low : 0};
}

/// Copies `size` bytes from `start` of a frame; those at or beyond `end` are 0.
inline void copy_padded(uint8_t* to, const uint8_t* data, uint32_t start, uint32_t size, uint32_t end) {
    const uint32_t there = start < end ? std::min(size, end - start) : 0;
    std::memcpy(to, data + start, there);
    std::memset(to + there, 0, size - there);
}

// ---- keys that are one number

template <std::unsigned_integral T>
std::array<uint64_t, 1> pack(T value) {
    return {value};
}
inline std::array<uint64_t, 2> pack(u128 value) {
    return {static_cast<uint64_t>(value >> 64), static_cast<uint64_t>(value)};
}
inline std::array<uint64_t, 1> pack(Row row) { return {row.id}; }
inline std::array<uint64_t, 1> pack(None) { return {0}; }
template <std::unsigned_integral T>
void unpack(const std::array<uint64_t, 1>& words, T& value) {
    value = static_cast<T>(words[0]);
}
inline void unpack(const std::array<uint64_t, 2>& words, u128& value) { value = u128{words[0]} << 64 | words[1]; }
inline void unpack(const std::array<uint64_t, 1>& words, Row& row) { row.id = static_cast<uint32_t>(words[0]); }

// ---- lookups and writes that fail

/// The handle of an entry that is not there.
inline constexpr uint32_t absent = UINT32_MAX;

/// The reason of a failed write: of `full`, `nested`, `not taken`, then one per index; 0 if it did not fail.
inline uint16_t why_not(PutResult put, std::initializer_list<uint16_t> reasons) {
    switch (put.what) {
        case Put::full:
            return reasons.begin()[0];
        case Put::nested:
            return reasons.begin()[1];
        case Put::not_taken:
            return reasons.begin()[2];
        case Put::index_taken: {
            const size_t place = 3 + size_t{put.index};
            return place < reasons.size() ? reasons.begin()[place] : 0;
        }
        default:
            return 0;
    }
}

// ---- axes of pools

/// The values of a config list, in order.
template <class T>
std::vector<T> values_of(const ListTable<T>& table) {
    std::vector<T> values;
    for (const Row row : table) values.push_back(table.value(row));
    return values;
}
/// All numbers from `low` to `high`, both included.
template <class T>
std::vector<T> values_between(uint64_t low, uint64_t high) {
    std::vector<T> values;
    for (uint64_t value = low; value <= high; ++value) values.push_back(static_cast<T>(value));
    return values;
}

/// a / b against c / d, exactly: below, at or above 0. `b`, `d` are not 0.
inline int compare_ratios(u128 a, uint64_t b, u128 c, uint64_t d) {
    const u128 left = a / b, right = c / d;
    if (left != right) return left < right ? -1 : 1;
    const u128 x = a % b * d, y = c % d * b;
    return x == y ? 0 : x < y ? -1 : 1;
}

/// A seed for hash tables that differs from process to process, so that nobody can choose keys that collide.
inline uint64_t table_seed() {
    static const uint64_t seed = [] {
        std::random_device device;
        return uint64_t{device()} << 32 | device();
    }();
    return seed;
}

}  // namespace polysome
