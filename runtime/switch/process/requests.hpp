// What a controller asks of the soft switch, done: changes all together or not at all, and readings. The loop's thread
// only. Errors are std::invalid_argument; the text names what was wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "control.pb.h"
#include "switch/driver.hpp"
#include "switch/process/generator.hpp"
#include "switch/traffic_manager.hpp"

namespace polysome::soft_switch {

/// A value as it comes over gRPC: big-endian, of at most 16 bytes; none mean 0.
inline p4::u128 number(const std::string& bytes) {
    if (bytes.size() > 16) throw std::invalid_argument("a value of " + std::to_string(bytes.size()) + " bytes, not 16");
    p4::u128 value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
    return value;
}

/// A number of few bits that comes in a field of more.
template <class T>
T narrow(std::uint32_t value, const char* what) {
    if (value > std::numeric_limits<T>::max())
        throw std::invalid_argument("there is no " + std::string(what) + " " + std::to_string(value));
    return static_cast<T>(value);
}

/// The changes of one request, and how to take back those that were made.
class Change {
  public:
    Change(p4::RevocableDriver& driver, Generator& generator, Time now)
        : driver_(driver), generator_(generator), now_(now) {}

    /// All updates in order, or none of them: but ports, mirror sessions, groups and the generator stay as they were
    /// set.
    void apply(const control::WriteRequest& request) {
        for (int i = 0; i < request.updates_size(); ++i) {
            try {
                apply(request.updates(i));
            } catch (const std::exception& error) {
                for (; !made_.empty(); made_.pop_back()) made_.back()();
                throw std::invalid_argument("update " + std::to_string(i + 1) + " of " +
                                            std::to_string(request.updates_size()) + ": " + error.what());
            }
        }
    }

  private:
    void apply(const control::Update& update) {
        using What = control::Update::WhatCase;
        switch (update.what_case()) {
            case What::kAdd:
                return entry(update.add(), What::kAdd);
            case What::kModify:
                return entry(update.modify(), What::kModify);
            case What::kPut:
                return entry(update.put(), What::kPut);
            case What::kRemove:
                return entry(update.remove(), What::kRemove);
            case What::kRegister:
                return cell(update.register_());
            case What::kMeter:
                return meter(update.meter());
            case What::kMirror:
                return driver_.set_mirror(narrow<std::uint16_t>(update.mirror().session(), "mirror session"),
                                          narrow<std::uint16_t>(update.mirror().port(), "port"),
                                          update.mirror().max_length());
            case What::kGroup:
                return group(update.group());
            case What::kPort:
                return port(update.port());
            case What::kGenerator:
                return generator_.set(
                    {update.generator().port(), update.generator().period(), update.generator().count()}, now_);
            case What::kClear:
                made_.push_back(driver_.remember_entries(update.clear()));
                return driver_.clear_entries(update.clear());
            case What::kHold:
                return driver_.hold_port(narrow<std::uint16_t>(update.hold().port(), "port"), update.hold().on());
            case What::WHAT_NOT_SET:
                break;
        }
        throw std::invalid_argument("it says nothing that this switch knows");
    }

    void entry(const control::Entry& entry, control::Update::WhatCase what) {
        using What = control::Update::WhatCase;
        std::vector<p4::Match> key;
        for (const auto& value : entry.key()) key.push_back({number(value)});
        std::vector<p4::u128> parameters;
        for (const auto& value : entry.parameters()) parameters.push_back(number(value));
        const bool there = driver_.has_entry(entry.table(), key);
        if (what == What::kRemove && !there) return;
        made_.push_back(driver_.remember_entry(entry.table(), key));
        if (what == What::kRemove) {
            driver_.delete_entry(entry.table(), key);
        } else if (what == What::kModify || (what == What::kPut && there)) {
            driver_.modify_entry(entry.table(), key, entry.action(), parameters);
        } else {
            driver_.add_entry(entry.table(), key, entry.action(), parameters);
        }
    }

    void cell(const control::Cell& cell) {
        const std::uint64_t was = driver_.read_register(cell.register_(), cell.index(), cell.field());
        driver_.write_register(cell.register_(), cell.index(), cell.value(), cell.field());
        made_.push_back(
            [this, &cell, was] { driver_.write_register(cell.register_(), cell.index(), was, cell.field()); });
    }

    void meter(const control::Meter& meter) {
        made_.push_back(driver_.remember_meter(meter.name(), meter.index()));
        driver_.set_meter(meter.name(), meter.index(), {meter.rate(), meter.burst(), meter.rate(), meter.burst()});
    }

    void group(const control::Group& group) {
        std::vector<std::uint16_t> members;
        for (const std::uint32_t member : group.ports()) members.push_back(narrow<std::uint16_t>(member, "port"));
        driver_.set_multicast(narrow<std::uint16_t>(group.group(), "multicast group"), members);
    }

    void port(const control::Port& port) {
        if (port.role() > static_cast<std::uint32_t>(p4::PortRole::controller))
            throw std::invalid_argument("port " + std::to_string(port.port()) + ": there is no role " +
                                        std::to_string(port.role()));
        p4::PortConfig config;
        config.rate = port.rate();
        if (port.queue_bytes() != 0) config.queue_bytes = port.queue_bytes();
        config.first_queue_bytes = port.first_queue_bytes();
        config.metadata =
            p4::port_metadata(static_cast<p4::PortRole>(port.role()), narrow<std::uint8_t>(port.index(), "port index"));
        config.append_icrc = port.append_icrc();
        config.loopback = port.loopback();
        config.loop_time = port.loop_time();
        driver_.set_port(narrow<std::uint16_t>(port.port(), "port"), config);
    }

    p4::RevocableDriver& driver_;
    Generator& generator_;
    Time now_;
    std::vector<p4::Undo> made_;  ///< the latest last
};

/// What a request names, of a loop that packets wait for meanwhile.
class Reading {
  public:
    static constexpr std::uint64_t most = 1 << 18;  ///< cells in one request

    explicit Reading(const p4::SwitchDriver& driver) : driver_(driver) {}

    void read(const control::ReadRequest& request, control::ReadResponse& response) {
        limit(request);
        for (int i = 0; i < request.registers_size(); ++i) {
            const control::Cell& first = request.registers(i);
            auto& values = *response.add_registers()->mutable_values();
            for (std::uint64_t k = 0; k < count(request.counts(), i); ++k)
                values.Add(driver_.read_register(first.register_(), first.index() + k, first.field()));
        }
        for (int i = 0; i < request.counters_size(); ++i) {
            const control::CounterCell& first = request.counters(i);
            control::CounterValues& values = *response.add_counters();
            for (std::uint64_t k = 0; k < count(request.counter_counts(), i); ++k) {
                const p4::CounterValue value = driver_.read_counter(first.counter(), first.index() + k);
                values.add_packets(value.packets);
                values.add_bytes(value.bytes);
            }
        }
    }

  private:
    using Counts = google::protobuf::RepeatedField<std::uint32_t>;
    static std::uint64_t count(const Counts& counts, int i) { return i < counts.size() ? std::max(counts[i], 1u) : 1; }

    static void limit(const control::ReadRequest& request) {
        if (request.counts_size() > request.registers_size() || request.counter_counts_size() > request.counters_size())
            throw std::invalid_argument("more counts than registers or counters");
        std::uint64_t all = 0;
        for (int i = 0; i < request.registers_size(); ++i) all += count(request.counts(), i);
        for (int i = 0; i < request.counters_size(); ++i) all += count(request.counter_counts(), i);
        if (all > most)
            throw std::invalid_argument(std::to_string(all) + " cells, and a request may name " + std::to_string(most));
    }

    const p4::SwitchDriver& driver_;
};

}  // namespace polysome::soft_switch
