/// State as bytes, for the process that goes on where another one of this machine ended.
///
/// Whatever has state has one function for both directions, `carry(archive)`: it hands its members to the archive,
/// which writes them (Saver) or sets them (Loader). A member of its own is preferred; generated structs have a free
/// `carry(archive, value)` beside them. Numbers are as this machine has them. Whoever changes what one in runtime/
/// writes changes FORMAT in backends/nf_cpp/carry_code.py, so that no process takes over what it would read in another
/// way.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nf/types.hpp"

namespace polysome {

template <class Archive, class T>
void carry(Archive& archive, T& value)
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, u128>);

namespace detail {

/// What both directions have in common.
template <class Self>
struct Archive {
    /// All of them, in this order.
    template <class... T>
    void operator()(T&... values) {
        (one(values), ...);
    }

  private:
    friend Self;
    Archive() = default;

    template <class T>
    void one(T& value) {
        auto& self = static_cast<Self&>(*this);
        if constexpr (requires { value.carry(self); }) {
            value.carry(self);
        } else {
            carry(self, value);
        }
    }
};

}  // namespace detail

class Saver : public detail::Archive<Saver> {
  public:
    static constexpr bool loading = false;

    void raw(void* data, size_t size) {
        const auto* const bytes = static_cast<const uint8_t*>(data);
        bytes_.insert(bytes_.end(), bytes, bytes + size);
    }
    /// A number that must be the same where this is loaded.
    void same(uint64_t value) { raw(&value, sizeof value); }
    /// How many follow, each at least a byte.
    uint64_t count(size_t size) {
        same(size);
        return size;
    }
    bool ok() const { return true; }
    std::vector<uint8_t> take() { return std::move(bytes_); }

  private:
    std::vector<uint8_t> bytes_;
};

/// After the first fault `ok` is false for good, and what is read from then on is zero.
class Loader : public detail::Archive<Loader> {
  public:
    static constexpr bool loading = true;

    explicit Loader(std::span<const uint8_t> bytes) : rest_(bytes) {}

    void raw(void* data, size_t size) {
        if (size > rest_.size()) {
            fail();
            std::memset(data, 0, size);
            return;
        }
        if (size != 0) std::memcpy(data, rest_.data(), size);
        rest_ = rest_.subspan(size);
    }
    void same(uint64_t value) {
        uint64_t found = 0;
        raw(&found, sizeof found);
        if (found != value) fail();
    }
    uint64_t count(size_t) {
        uint64_t size = 0;
        raw(&size, sizeof size);
        if (size > rest_.size()) {
            fail();
            size = 0;
        }
        return size;
    }
    void fail() {
        ok_ = false;
        rest_ = {};
    }
    bool ok() const { return ok_; }
    /// Was everything read, without a fault?
    bool done() const { return ok_ && rest_.empty(); }

  private:
    std::span<const uint8_t> rest_;
    bool ok_ = true;
};

// ---- the types of the runtime

template <class Archive, class T>
void carry(Archive& archive, T& value)
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, u128>)
{
    if constexpr (std::is_same_v<T, bool>) {
        auto byte = static_cast<uint8_t>(value);
        archive.raw(&byte, 1);
        value = byte != 0;
    } else {
        archive.raw(&value, sizeof value);
    }
}

template <class Archive>
void carry(Archive&, None&) {}
template <class Archive>
void carry(Archive& archive, Row& row) {
    archive(row.id);
}
template <class Archive>
void carry(Archive& archive, Prefix& prefix) {
    archive(prefix.value, prefix.bits, prefix.length);
}
template <class Archive>
void carry(Archive& archive, Bucket& bucket) {
    archive(bucket.tokens, bucket.last);
}
template <class Archive, class Item, class Partition>
void carry(Archive& archive, Taken<Item, Partition>& taken) {
    archive(taken.value, taken.partition);
}

template <class Archive, class A, class B>
void carry(Archive& archive, std::pair<A, B>& value) {
    archive(value.first, value.second);
}
template <class Archive, class... T>
void carry(Archive& archive, std::tuple<T...>& value) {
    std::apply([&](auto&... member) { archive(member...); }, value);
}
template <class Archive, class T, size_t N>
void carry(Archive& archive, std::array<T, N>& values) {
    for (T& value : values) archive(value);
}

/// Those that grow at their end.
template <class Archive, class List>
void carry_list(Archive& archive, List& values) {
    const uint64_t n = archive.count(values.size());
    if constexpr (Archive::loading) {
        values.clear();
        for (uint64_t i = 0; i < n && archive.ok(); ++i) archive(values.emplace_back());
    } else {
        for (auto& value : values) archive(value);
    }
}
template <class Archive, class T>
void carry(Archive& archive, std::deque<T>& values) {
    carry_list(archive, values);
}
template <class Archive, class T>
void carry(Archive& archive, std::list<T>& values) {
    carry_list(archive, values);
}
template <class Archive, class T>
void carry(Archive& archive, std::vector<T>& values) {
    if constexpr (std::is_same_v<T, bool>) {
        std::vector<uint8_t> bytes(values.begin(), values.end());
        archive(bytes);
        values.assign(bytes.begin(), bytes.end());
    } else if constexpr (std::is_integral_v<T>) {
        values.resize(archive.count(values.size() * sizeof(T)) / sizeof(T));
        archive.raw(values.data(), values.size() * sizeof(T));
    } else {
        carry_list(archive, values);
    }
}

/// Those that have an order, or none, of their own. `Value`: what one of them is, to be changed.
template <class Value, class Archive, class Collection>
void carry_collection(Archive& archive, Collection& values) {
    const uint64_t n = archive.count(values.size());
    if constexpr (Archive::loading) {
        values.clear();
        for (uint64_t i = 0; i < n && archive.ok(); ++i) {
            Value value{};
            archive(value);
            values.insert(std::move(value));
        }
    } else {
        for (const auto& one : values) {
            Value value(one);
            archive(value);
        }
    }
}
template <class Archive, class T>
void carry(Archive& archive, std::set<T>& values) {
    carry_collection<T>(archive, values);
}
template <class Archive, class K, class V>
void carry(Archive& archive, std::map<K, V>& values) {
    carry_collection<std::pair<K, V>>(archive, values);
}

}  // namespace polysome
