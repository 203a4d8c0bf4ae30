/// Reads the binary form of a configuration: what `polysome` writes for an NF, item by item.
///
/// All integers are big-endian and as wide as their C++ type; bool is one byte, 0 or 1; a prefix is its family's bits
/// (32 or 128), its length, and 16 bytes of address; a list is a 32-bit count and its values; pairs, tuples and structs
/// are their members one after the other. Generated structs have a `read(Reader&, X&)` of their own beside them.
#pragma once

#include <concepts>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

/// A cursor over bytes that belong to the caller. It never reads past them: after the first fault `ok` is false for
/// good, and what is read from then on is zero.
class Reader {
  public:
    explicit Reader(std::span<const uint8_t> bytes) : rest_(bytes) {}

    bool ok() const { return ok_; }
    /// Was everything read, without a fault?
    bool done() const { return ok_ && rest_.empty(); }
    size_t left() const { return rest_.size(); }

    /// What follows makes no sense.
    void fail() {
        ok_ = false;
        rest_ = {};
    }

    /// The next `size` bytes, or none and a fault if there are fewer.
    std::span<const uint8_t> bytes(size_t size) {
        if (size > rest_.size()) {
            fail();
            return {};
        }
        const auto taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return taken;
    }

    /// Reads a value with the `read` that belongs to its type.
    template <class T>
    void get(T& value) {
        read(*this, value);
    }

    /// The same as a result.
    template <class T>
    T next() {
        T value{};
        read(*this, value);
        return value;
    }

  private:
    std::span<const uint8_t> rest_;
    bool ok_ = true;
};

/// The integers of configurations, also those of 128 bits.
template <class T>
concept Number = (std::integral<T> || std::same_as<T, u128>) && !std::same_as<T, bool>;

template <Number T>
void read(Reader& reader, T& value) {
    const auto bytes = reader.bytes(sizeof(T));
    u128 number = 0;
    for (const uint8_t byte : bytes) number = number << 8 | byte;
    value = static_cast<T>(number);
}

inline void read(Reader& reader, bool& value) {
    const auto byte = reader.next<uint8_t>();
    value = byte == 1;
    if (byte > 1) reader.fail();
}

inline void read(Reader& reader, Prefix& prefix) {
    Prefix found;
    reader.get(found.bits);
    reader.get(found.length);
    reader.get(found.value);
    const bool sound = (found.bits == 32 || found.bits == 128) && found.length <= found.bits &&
                       (found.bits == 128 || found.value >> 32 == 0) && found.contains(found.value, found.bits) &&
                       (found.length == found.bits || found.value << (128 - found.bits + found.length) == 0);
    if (!sound) reader.fail();
    prefix = reader.ok() ? found : Prefix{};
}

inline void read(Reader&, None&) {}

template <class A, class B>
void read(Reader& reader, std::pair<A, B>& value) {
    reader.get(value.first);
    reader.get(value.second);
}

template <class... T>
void read(Reader& reader, std::tuple<T...>& value) {
    std::apply([&reader](auto&... member) { (reader.get(member), ...); }, value);
}

/// Every value takes a byte at least, so a count above the bytes that are left is a fault.
template <class T>
void read(Reader& reader, std::vector<T>& values) {
    values.clear();
    const auto count = reader.next<uint32_t>();
    if (count > reader.left()) reader.fail();
    for (uint32_t i = 0; i < count && reader.ok(); ++i) values.push_back(reader.next<T>());
    if (!reader.ok()) values.clear();
}

}  // namespace polysome
