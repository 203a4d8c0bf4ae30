// Registers, counters and meters of a translated program, and the list by which a driver finds them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "switch/driver.hpp"
#include "switch/table.hpp"

namespace polysome::p4 {

/// What the driver sees of a register.
class RegisterBase {
  public:
    virtual ~RegisterBase() = default;
    virtual std::string_view name() const = 0;
    virtual std::uint64_t read(std::size_t index, std::string_view field) const = 0;
    virtual void write(std::size_t index, std::uint64_t value, std::string_view field) = 0;
};

/// A register array. T: {Element, name, size, width, fields (two names of a pair, or none), initial()}.
template <class T>
class Register final : public RegisterBase {
  public:
    using Element = typename T::Element;
    Register() : at_(T::size, T::initial()) {}

    /// The element that a stateful ALU works on; an index beyond the array reads 0 and writes nowhere.
    [[gnu::always_inline]] Element& operator[](std::size_t index) {
        if (index < T::size) [[likely]]
            return at_[index];
        return nowhere_ = Element{};
    }

    std::string_view name() const override { return T::name; }
    std::uint64_t read(std::size_t index, std::string_view field) const override {
        check(index, field);
        return T::get(at_[index], !field.empty() && field == T::fields[1]);
    }
    void write(std::size_t index, std::uint64_t value, std::string_view field) override {
        check(index, field);
        if (value > detail::ones(T::width)) detail::refuse(T::name, "the value does not fit");
        T::set(at_[index], !field.empty() && field == T::fields[1], value);
    }

  private:
    static void check(std::size_t index, std::string_view field) {
        if (index >= T::size)
            detail::refuse(T::name, "index " + std::to_string(index) + " of " + std::to_string(T::size));
        if (field != T::fields[0] && field != T::fields[1])
            detail::refuse(T::name, "it has no field `" + std::string(field) + "`");
    }
    std::vector<Element> at_;
    Element nowhere_{};
};

/// Packets and bytes by index, or one of both; each wraps at its width.
class Counter {
  public:
    Counter(std::string_view name, std::size_t size, unsigned width, bool packets, bool bytes)
        : name_(name),
          at_(size),
          most_(static_cast<std::uint64_t>(detail::ones(width))),
          packets_(packets ? 1 : 0),
          bytes_(bytes ? ~std::uint64_t{0} : 0) {}
    [[gnu::always_inline]] void count(std::size_t index, std::uint64_t bytes) {
        if (index >= at_.size()) return;
        at_[index].packets = (at_[index].packets + packets_) & most_;
        at_[index].bytes = (at_[index].bytes + (bytes & bytes_)) & most_;
    }
    std::string_view name() const { return name_; }
    CounterValue read(std::size_t index) const {
        if (index >= at_.size())
            detail::refuse(name_, "index " + std::to_string(index) + " of " + std::to_string(at_.size()));
        return at_[index];
    }

  private:
    std::string_view name_;
    std::vector<CounterValue> at_;
    std::uint64_t most_;
    std::uint64_t packets_;  // 1, or 0 if they are not counted
    std::uint64_t bytes_;    // all ones, or 0
};

/// Two-rate three-color markers (RFC 2698, color-blind). A meter without rates says green, as on the chip.
class Meter {
  public:
    static constexpr std::uint8_t green = 0, yellow = 1, red = 3;

    Meter(std::string_view name, std::size_t size, bool bytes) : name_(name), at_(size), bytes_(bytes) {}

    std::uint8_t execute(std::size_t index, std::uint64_t length, Time now) {
        if (index >= at_.size() || !at_[index].set) return green;
        State& s = at_[index];
        const u128 cost = u128{bytes_ ? length : 1} * unit();
        const Time elapsed = now > s.last ? now - s.last : 0;
        s.last = std::max(s.last, now);
        s.peak = std::min(burst(s.rates.pbs), s.peak + u128{elapsed} * s.rates.pir);
        s.committed = std::min(burst(s.rates.cbs), s.committed + u128{elapsed} * s.rates.cir);
        if (s.peak < cost) return red;
        s.peak -= cost;
        if (s.committed < cost) return yellow;
        s.committed -= cost;
        return green;
    }
    std::string_view name() const { return name_; }
    /// The buckets start full.
    void set(std::size_t index, const MeterRates& rates) {
        if (index >= at_.size())
            detail::refuse(name_, "index " + std::to_string(index) + " of " + std::to_string(at_.size()));
        at_[index] = {rates, burst(rates.cbs), burst(rates.pbs), 0, true};
    }
    /// As it is, with what its buckets hold.
    Undo remember(std::size_t index) {
        if (index >= at_.size())
            detail::refuse(name_, "index " + std::to_string(index) + " of " + std::to_string(at_.size()));
        return [this, index, was = at_[index]] { at_[index] = was; };
    }

  private:
    // Tokens are counted in 10^-9 bit (of packets: 10^-9 packet), so that rate × nanoseconds is exact.
    u128 unit() const { return u128{1'000'000'000} * (bytes_ ? 8 : 1); }
    u128 burst(std::uint64_t size) const { return u128{size} * unit(); }
    struct State {
        MeterRates rates;
        u128 committed = 0, peak = 0;
        Time last = 0;
        bool set = false;
    };
    std::string_view name_;
    std::vector<State> at_;
    bool bytes_;
};

/// All that a driver may name, of one program.
struct Objects {
    std::vector<TableBase*> tables;
    std::vector<RegisterBase*> registers;
    std::vector<Counter*> counters;
    std::vector<Meter*> meters;

    template <class T>
    static T& find(const std::vector<T*>& in, std::string_view name, std::string_view what) {
        for (T* object : in)
            if (object->name() == name) return *object;
        detail::refuse(name, "there is no such " + std::string(what));
    }
};

}  // namespace polysome::p4
