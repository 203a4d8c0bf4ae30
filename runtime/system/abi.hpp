/// A system as a shared library with a C ABI: POLYSOME_SYSTEM(Program, Nf) defines its functions.
///
/// A run is: create, arrive as often as you like, finish; records and report at any time. Functions return 0 if all is
/// well and 1 if not; then polysome_system_error says why. No exception leaves a function. An object is used by one
/// thread at a time. Times are ns, rates bit/s. What the caller's structs point to is copied.
///
/// Arrivals are those of host/library.hpp. `port` is a logical port, or 0x4000 | server for a frame that the server's
/// own host sends, or 0x8000 for one that the NF's host sends beside the NF, or 0xc000 | port of the switch for one that
/// comes in there without a link. Records: records.hpp. Report: report.hpp.
#pragma once

#include <concepts>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "host/library.hpp"
#include "system/c_config.hpp"
#include "system/report.hpp"
#include "system/system.hpp"

namespace polysome::system {

/// What the functions' handle points to. A switch that is its own tables (a test's) needs none of the program's.
template <class SwitchT, class Nf, class PortConfig>
class SystemObject {
  public:
    SystemObject(const polysome_system& from, std::span<const uint8_t> nf_config)
        : system(config_of(from), std::span(from.sizes, from.size_count), from.collide != 0) {
        if (!system.configure(nf_config)) throw std::invalid_argument("the config is malformed");
        if constexpr (std::derived_from<SwitchT, SplitTables>) {
            system.start(system.device());
        } else {
            tables = std::make_unique<P4Tables>(system.device(), system.config(), deployment_of(from));
            tables->fill();
            system.start(*tables);
        }
    }

    void arrive(std::span<const polysome_arrival> arrivals) {
        for (const polysome_arrival& arrival : arrivals) {
            system.arrive(arrival.time, arrival.port, {arrival.data, arrival.size});
        }
        check();
    }
    void finish() {
        system.finish();
        check();
    }

    std::unique_ptr<P4Tables> tables;
    System<SwitchT, Nf, PortConfig> system;
    std::string report, error;

  private:
    void check() const {
        if (system.nf().failed()) throw std::invalid_argument("a config change is malformed");
    }
};

/// Runs `body`; what it throws becomes the object's error.
template <class Object, class Body>
int guarded(void* handle, Body body) {
    auto& object = *static_cast<Object*>(handle);
    try {
        body(object);
        return 0;
    } catch (const std::exception& e) {
        object.error = e.what();
    } catch (...) {
        object.error = "an unknown error";
    }
    return 1;
}

template <class Object>
void* create(const polysome_system* from, const uint8_t* nf_config, size_t n, char* error, size_t error_size) {
    std::string message = "an unknown error";
    try {
        return new Object(*from, {nf_config, n});
    } catch (const std::bad_alloc&) {
        message = "not enough memory for this system";
    } catch (const std::exception& e) {
        message = e.what();
    } catch (...) {
    }
    if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
    return nullptr;
}

template <class Object>
int read_counter(void* handle, const char* name, size_t index, uint64_t* packets, uint64_t* bytes) {
    return guarded<Object>(handle, [&](Object& object) {
        const p4::CounterValue value = object.system.device().read_counter(name, index);
        *packets = value.packets;
        *bytes = value.bytes;
    });
}

template <class Object>
int read_register(void* handle, const char* name, size_t index, const char* field, uint64_t* value) {
    return guarded<Object>(handle,
                           [&](Object& object) { *value = object.system.device().read_register(name, index, field); });
}

template <class Object>
int write_register(void* handle, const char* name, size_t index, const char* field, uint64_t value) {
    return guarded<Object>(
        handle, [&](Object& object) { object.system.device().write_register(name, index, value, field); });
}

/// What of the switch's program was reached, if that is counted.
template <class Object>
size_t coverage(void* handle, const uint64_t** counts) {
    auto& program = static_cast<Object*>(handle)->system.device().program();
    if constexpr (requires { program.coverage(); }) {
        const auto found = program.coverage().counts();
        *counts = found.data();
        return found.size();
    }
    *counts = nullptr;
    return 0;
}

}  // namespace polysome::system

/// Defines the library's functions for a switch and an NF. `Object`: a SystemObject.
#define POLYSOME_SYSTEM_OBJECT(Object)                                                                         \
    extern "C" {                                                                                               \
    /* `config`: the NF's config blob. None if it does not work; then `error` says why. */                     \
    void* polysome_system_create(const polysome_system* from, const uint8_t* config, size_t n, char* error,    \
                                 size_t error_size) {                                                          \
        return polysome::system::create<Object>(from, config, n, error, error_size);                           \
    }                                                                                                          \
    /* Packets, in order of time; what happens before each is done first. */                                   \
    int polysome_system_arrive(void* handle, const polysome_arrival* arrivals, size_t n) {                     \
        return polysome::system::guarded<Object>(handle, [&](auto& object) { object.arrive({arrivals, n}); }); \
    }                                                                                                          \
    /* A change of the NF's config at `time`; changes are given in order of time, before what arrives then. */ \
    int polysome_system_change_at(void* handle, uint64_t time, const uint8_t* blob, size_t n) {                \
        return polysome::system::guarded<Object>(handle, [&](auto& object) {                                   \
            object.system.change_at(time, {blob, n});                                                          \
        });                                                                                                    \
    }                                                                                                          \
    /* Until nothing is on the way. */                                                                         \
    int polysome_system_finish(void* handle) {                                                                 \
        return polysome::system::guarded<Object>(handle, [&](auto& object) { object.finish(); });              \
    }                                                                                                          \
    /* The records since the last call, valid until the next one. */                                           \
    size_t polysome_system_records(void* handle, const uint8_t** data) {                                       \
        const auto records = static_cast<Object*>(handle)->system.recorder().take();                           \
        *data = records.data();                                                                                \
        return records.size();                                                                                 \
    }                                                                                                          \
    /* Lines `name<tab>value`; valid until the next call. */                                                   \
    const char* polysome_system_report(void* handle) {                                                         \
        auto& object = *static_cast<Object*>(handle);                                                          \
        const int failed = polysome::system::guarded<Object>(                                                  \
            handle, [](auto& o) { o.report = polysome::system::report_of(o.system); });                        \
        return failed != 0 ? "" : object.report.c_str();                                                       \
    }                                                                                                          \
    /* Names of what records have numbers for; "" if there is none. */                                         \
    const char* polysome_system_reason(void* handle, uint16_t reason) {                                        \
        const auto reasons = static_cast<Object*>(handle)->system.nf().reasons;                                \
        return reason < reasons.size() ? reasons[reason].data() : "";                                          \
    }                                                                                                          \
    const char* polysome_system_cause(void* handle, uint16_t cause) {                                          \
        const auto& ledger = static_cast<Object*>(handle)->system.ledger();                                    \
        return cause < ledger.causes() ? ledger.name(cause).c_str() : "";                                      \
    }                                                                                                          \
    const char* polysome_system_link(void* handle, uint16_t link) {                                            \
        const auto& links = static_cast<Object*>(handle)->system.links();                                      \
        return link < links.size() ? links[link]->name().c_str() : "";                                         \
    }                                                                                                          \
    const char* polysome_system_error(void* handle) { return static_cast<Object*>(handle)->error.c_str(); }    \
    void polysome_system_destroy(void* handle) { delete static_cast<Object*>(handle); }                        \
    }

/// The functions for a translated program and a generated NF, once per library; and the switch's own counters and
/// registers, by the program's names.
#define POLYSOME_SYSTEM(Program, Nf)                                                                                 \
    namespace polysome::system {                                                                                     \
    using LibraryObject = SystemObject<p4::Switch<Program>, Nf, p4::PortConfig>;                                     \
    }                                                                                                                \
    POLYSOME_SYSTEM_OBJECT(polysome::system::LibraryObject)                                                          \
    extern "C" {                                                                                                     \
    int polysome_system_counter(void* handle, const char* name, size_t index, uint64_t* packets, uint64_t* bytes) {  \
        return polysome::system::read_counter<polysome::system::LibraryObject>(handle, name, index, packets, bytes); \
    }                                                                                                                \
    int polysome_system_register(void* handle, const char* name, size_t index, const char* field, uint64_t* value) { \
        return polysome::system::read_register<polysome::system::LibraryObject>(handle, name, index, field, value);  \
    }                                                                                                                \
    /* So that a run begins close to where a number wraps. */                                                        \
    int polysome_system_set_register(void* handle, const char* name, size_t index, const char* field,                \
                                     uint64_t value) {                                                               \
        return polysome::system::write_register<polysome::system::LibraryObject>(handle, name, index, field, value); \
    }                                                                                                                \
    /* How often each outcome of the program happened (switch/coverage.hpp); valid until the next call. */           \
    size_t polysome_system_coverage(void* handle, const uint64_t** counts) {                                         \
        return polysome::system::coverage<polysome::system::LibraryObject>(handle, counts);                          \
    }                                                                                                                \
    }
