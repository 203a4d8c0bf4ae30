// Match-action tables. A translated program describes each one by a traits struct:
//   Key       the fields as the lookup has them, compared by ==;
//   Data      {uint8_t action; the parameters of every action};
//   name, size, fields (name, width and kind of each key), actions (names), key(values), data(action, parameters).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "switch/driver.hpp"

namespace polysome::p4 {

enum class Kind : std::uint8_t { exact, ternary, lpm };

struct KeyField {
    std::string_view name;
    unsigned width;
    Kind kind;
};

struct ActionInfo {
    std::string_view name;
    std::span<const unsigned> widths;  // of its parameters
};

/// What the driver sees of a table.
class TableBase {
  public:
    virtual ~TableBase() = default;
    virtual std::string_view name() const = 0;
    virtual void add(std::span<const Match>, std::string_view action, std::span<const u128>,
                     std::uint32_t priority) = 0;
    virtual void modify(std::span<const Match>, std::string_view action, std::span<const u128>) = 0;
    virtual void erase(std::span<const Match>) = 0;
    virtual void clear() = 0;
    virtual void set_default(std::string_view action, std::span<const u128>) = 0;
    virtual std::size_t count() const = 0;
    virtual bool has(std::span<const Match>) = 0;
    virtual Undo remember(std::span<const Match>) = 0;
    virtual Undo remember_all() = 0;
};

namespace detail {

[[noreturn]] inline void refuse(std::string_view object, const std::string& why) {
    throw std::invalid_argument(std::string(object) + ": " + why);
}

/// Mixes 64-bit words into a hash (the multiply and fold of wyhash).
inline std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
    const u128 product = u128{state ^ word} * 0x9e3779b97f4a7c15ull;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^ 0x2545f4914f6cdd1dull;
}

inline u128 ones(unsigned width) { return width == 0 ? 0 : ~u128{0} >> (128 - width); }

/// The keys of an entry, checked and with their masks: value and mask of each field.
struct Keys {
    std::vector<u128> values, masks;
    unsigned prefix = 0;  // of the lpm field
};

inline Keys checked(std::string_view table, std::span<const KeyField> fields, std::span<const Match> key) {
    if (key.size() != fields.size())
        refuse(table, std::to_string(key.size()) + " keys, and it has " + std::to_string(fields.size()));
    Keys found;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto& f = fields[i];
        if (key[i].value > ones(f.width)) refuse(table, "the value of key " + std::string(f.name) + " does not fit");
        u128 mask = ones(f.width);
        if (f.kind == Kind::ternary) mask &= key[i].mask;
        if (f.kind == Kind::lpm) {
            if (key[i].prefix > f.width) refuse(table, "the prefix of key " + std::string(f.name) + " is too long");
            mask &= ~ones(f.width - key[i].prefix);
            found.prefix = key[i].prefix;
        }
        found.values.push_back(key[i].value & mask);
        found.masks.push_back(mask);
    }
    return found;
}

/// Exact keys of at most 16 bits together: an array with an element for every key.
template <class T>
class DirectEntries {
  public:
    using Data = typename T::Data;
    DirectEntries() : at_(std::size_t{1} << T::key_bits), there_(std::size_t{1} << T::key_bits) {}
    [[gnu::always_inline]] Data* find(const typename T::Key& key) {
        const std::size_t i = T::index(key);
        return there_[i] ? &at_[i] : nullptr;
    }
    Data* same(const Keys& keys) { return find(T::key(keys.values)); }
    void add(const Keys& keys, std::uint32_t, const Data& data) {
        const std::size_t i = T::index(T::key(keys.values));
        at_[i] = data, there_[i] = 1, ++count_;
    }
    void erase(const Keys& keys) { there_[T::index(T::key(keys.values))] = 0, --count_; }
    void clear() { std::fill(there_.begin(), there_.end(), std::uint8_t{0}), count_ = 0; }
    std::size_t count() const { return count_; }

  private:
    std::vector<Data> at_;
    std::vector<std::uint8_t> there_;
    std::size_t count_ = 0;
};

/// Exact keys: open addressing, linear probing, at most half full; an erased entry closes the gap behind it.
template <class T>
class HashEntries {
  public:
    using Data = typename T::Data;
    HashEntries() : slots_(std::bit_ceil(T::size * 2 + 1)), mask_(slots_.size() - 1) {}
    [[gnu::always_inline]] Data* find(const typename T::Key& key) {
        for (std::size_t i = T::hash(key) & mask_; slots_[i].used; i = (i + 1) & mask_)
            if (slots_[i].key == key) return &slots_[i].data;
        return nullptr;
    }
    Data* same(const Keys& keys) { return find(T::key(keys.values)); }
    void add(const Keys& keys, std::uint32_t, const Data& data) {
        const auto key = T::key(keys.values);
        std::size_t i = T::hash(key) & mask_;
        while (slots_[i].used) i = (i + 1) & mask_;
        slots_[i] = {key, data, true};
        ++count_;
    }
    void erase(const Keys& keys) {
        const auto key = T::key(keys.values);
        std::size_t gap = T::hash(key) & mask_;
        while (!(slots_[gap].key == key)) gap = (gap + 1) & mask_;
        slots_[gap].used = false;
        for (std::size_t i = (gap + 1) & mask_; slots_[i].used; i = (i + 1) & mask_) {
            const std::size_t home = T::hash(slots_[i].key) & mask_;
            if (((i - home) & mask_) < ((i - gap) & mask_))
                continue;  // it stands between its home and the gap's successor
            slots_[gap] = slots_[i];
            slots_[i].used = false;
            gap = i;
        }
        --count_;
    }
    void clear() {
        for (auto& s : slots_) s.used = false;
        count_ = 0;
    }
    std::size_t count() const { return count_; }

  private:
    struct Slot {
        typename T::Key key;
        Data data;
        bool used = false;
    };
    std::vector<Slot> slots_;
    std::size_t mask_;
    std::size_t count_ = 0;
};

/// Ternary and lpm keys: a list by priority (lpm: longest prefix first), the first that matches wins.
template <class T>
class ListEntries {
  public:
    using Data = typename T::Data;
    Data* find(const typename T::Key& key) {
        for (auto& e : entries_)
            if (T::matches(key, e.value, e.mask)) return &e.data;
        return nullptr;
    }
    Data* same(const Keys& keys) {
        const auto value = T::key(keys.values), mask = T::key(keys.masks);
        for (auto& e : entries_)
            if (e.value == value && e.mask == mask) return &e.data;
        return nullptr;
    }
    void add(const Keys& keys, std::uint32_t priority, const Data& data) {
        if (T::longest_prefix) priority = 128 - keys.prefix;
        const auto place = std::upper_bound(entries_.begin(), entries_.end(), priority,
                                            [](std::uint32_t p, const Entry& e) { return p < e.priority; });
        entries_.insert(place, Entry{T::key(keys.values), T::key(keys.masks), data, priority});
    }
    void erase(const Keys& keys) {
        const auto value = T::key(keys.values), mask = T::key(keys.masks);
        std::erase_if(entries_, [&](const Entry& e) { return e.value == value && e.mask == mask; });
    }
    void clear() { entries_.clear(); }
    std::size_t count() const { return entries_.size(); }

  private:
    struct Entry {
        typename T::Key value, mask;
        Data data;
        std::uint32_t priority;
    };
    std::vector<Entry> entries_;
};

template <class T>
struct EntriesOf {
    using type = ListEntries<T>;
};
template <class T>
    requires(T::all_exact && T::key_bits <= 16)
struct EntriesOf<T> {
    using type = DirectEntries<T>;
};
template <class T>
    requires(T::all_exact && T::key_bits > 16)
struct EntriesOf<T> {
    using type = HashEntries<T>;
};

}  // namespace detail

/// A table of a translated program.
template <class T>
class Table final : public TableBase {
  public:
    using Data = typename T::Data;
    struct Applied {
        Data& data;
        bool hit;
    };

    Table() : default_(T::default_data()) {
        for (const auto& e : T::entries()) entries_.add(e.keys, e.priority, e.data);
    }

    [[gnu::always_inline]] Applied apply(const typename T::Key& key) {
        Data* found = entries_.find(key);
        return found != nullptr ? Applied{*found, true} : Applied{default_, false};
    }

    std::string_view name() const override { return T::name; }

    void add(std::span<const Match> key, std::string_view action, std::span<const u128> params,
             std::uint32_t priority) override {
        const auto keys = changeable(key);
        const auto data = made(action, params);
        if (entries_.same(keys) != nullptr) detail::refuse(T::name, "the entry is there already");
        if (entries_.count() >= T::size) detail::refuse(T::name, "full: " + std::to_string(T::size) + " entries");
        entries_.add(keys, priority, data);
    }
    void modify(std::span<const Match> key, std::string_view action, std::span<const u128> params) override {
        const auto keys = changeable(key);
        const auto data = made(action, params);
        there(keys) = data;
    }
    void erase(std::span<const Match> key) override {
        const auto keys = changeable(key);
        there(keys);
        entries_.erase(keys);
    }
    void clear() override {
        if (T::fixed) detail::refuse(T::name, "its entries are constant");
        entries_.clear();
    }
    void set_default(std::string_view action, std::span<const u128> params) override {
        if (T::default_fixed) detail::refuse(T::name, "its default action is constant");
        default_ = made(action, params);
    }
    std::size_t count() const override { return entries_.count(); }
    bool has(std::span<const Match> key) override { return entries_.same(changeable(key)) != nullptr; }

    Undo remember(std::span<const Match> key) override {
        const auto keys = changeable(key);
        if constexpr (!T::all_exact) return remember_all();  // of a list, the place among equals counts too
        const Data* const found = entries_.same(keys);
        return [this, keys, was = found != nullptr ? std::optional<Data>(*found) : std::nullopt] {
            if (entries_.same(keys) != nullptr) entries_.erase(keys);
            if (was) entries_.add(keys, 0, *was);
        };
    }
    Undo remember_all() override {
        if (T::fixed) detail::refuse(T::name, "its entries are constant");
        return [this, was = entries_] { entries_ = was; };
    }

  private:
    detail::Keys changeable(std::span<const Match> key) const {
        if (T::fixed) detail::refuse(T::name, "its entries are constant");
        return detail::checked(T::name, T::fields, key);
    }
    Data& there(const detail::Keys& keys) {
        Data* found = entries_.same(keys);
        if (found == nullptr) detail::refuse(T::name, "there is no such entry");
        return *found;
    }
    static Data made(std::string_view action, std::span<const u128> params) {
        for (std::size_t a = 0; a < T::actions.size(); ++a) {
            const ActionInfo& info = T::actions[a];
            if (info.name != action && !short_name(info.name, action)) continue;
            if (params.size() != info.widths.size())
                detail::refuse(T::name, std::string(action) + " takes " + std::to_string(info.widths.size()) +
                                            " parameters, and " + std::to_string(params.size()) + " are given");
            for (std::size_t i = 0; i < params.size(); ++i)
                if (params[i] > detail::ones(info.widths[i]))
                    detail::refuse(T::name, "parameter " + std::to_string(i + 1) + " of " + std::string(action) +
                                                " does not fit into " + std::to_string(info.widths[i]) + " bits");
            return T::data(static_cast<std::uint8_t>(a), params.data());
        }
        detail::refuse(T::name, "it has no action " + std::string(action));
    }
    /// "forward" is enough for "Ingress.forward".
    static bool short_name(std::string_view full, std::string_view name) {
        return full.size() > name.size() && full.ends_with(name) && full[full.size() - name.size() - 1] == '.';
    }

    typename detail::EntriesOf<T>::type entries_;
    Data default_;
};

/// An entry that stands in the program.
template <class Data>
struct ConstEntry {
    detail::Keys keys;
    std::uint32_t priority;
    Data data;
};

}  // namespace polysome::p4
