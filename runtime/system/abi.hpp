/// A system as a shared library with a C ABI: POLYSOME_SYSTEM(Program, Nf) defines its functions.
///
/// A run is: create, set the switch, arrive as often as you like, finish; records and report at any time. Functions
/// return 0 if all is well and 1 if not; then polysome_system_error says why. No exception leaves a function. An object
/// is used by one thread at a time. Times are ns, rates bit/s. What the caller's structs point to is copied.
///
/// arrive and finish may also stop before they are done: 2 at the time that was given, 3 at a look at the switch that
/// finds what the controller has to see. The same call goes on, with the packets that were not taken.
///
/// Arrivals are those of host/library.hpp. `port` is a logical port, or 0x4000 | server for a frame that the server's
/// own host sends, or 0x8000 for one that the NF's host sends beside the NF, or 0xc000 | port of the switch for one
/// that comes in there without a link. Records: records.hpp. Report: report.hpp.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "host/library.hpp"
#include "system/c_config.hpp"
#include "system/report.hpp"
#include "system/system.hpp"

namespace polysome::system {

/// What the functions' handle points to.
template <class SwitchT, class Nf>
class SystemObject {
  public:
    SystemObject(const polysome_system& from, std::span<const uint8_t> nf_config)
        : system(config_of(from), std::span(from.sizes, from.size_count), from.collide != 0),
          switch_ip(from.switch_ip) {
        if (!system.configure(nf_config)) throw std::invalid_argument("the config is malformed");
    }

    int arrive(std::span<const polysome_arrival> arrivals, Time until) {
        const Stop stop = system.arrive(arrivals, taken, until);
        return check(stop);
    }
    int finish(Time until) { return check(system.finish(until)); }

    System<SwitchT, Nf> system;
    uint32_t switch_ip;
    size_t taken = 0;
    std::string report, error;

  private:
    int check(Stop stop) const {
        if (system.nf().failed()) throw std::invalid_argument("a config change is malformed");
        return stop == Stop::done ? 0 : stop == Stop::due ? 2 : 3;
    }
};

/// Runs `body`, which may return a status; what it throws becomes the object's error.
template <class Object, class Body>
int guarded(void* handle, Body body) {
    auto& object = *static_cast<Object*>(handle);
    try {
        if constexpr (std::is_void_v<decltype(body(object))>) {
            body(object);
            return 0;
        } else {
            return body(object);
        }
    } catch (const std::exception& e) {
        object.error = e.what();
    } catch (...) {
        object.error = "an unknown error";
    }
    return 1;
}

template <class Object>
void* create(const polysome_system* from, const uint8_t* nf_config, size_t n, char* error, size_t error_size) {
    std::string message;
    try {
        return new Object(*from, {nf_config, n});
    } catch (const std::bad_alloc&) {
        message = "not enough memory for this system";
    } catch (const std::exception& e) {
        message = e.what();
    } catch (...) {
        message = "an unknown error";
    }
    if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", message.c_str());
    return nullptr;
}

// ---- the controller's driver

/// Entries have plain keys of 64 bits at most: the program has no others.
inline std::vector<p4::Match> matches(std::span<const uint64_t> key) {
    std::vector<p4::Match> found;
    for (const uint64_t value : key) found.push_back({.value = value});
    return found;
}
template <class Object>
int put_entry(void* handle, const char* table, const uint64_t* key, size_t keys, const char* action,
              const uint64_t* parameters, size_t count) {
    return guarded<Object>(handle, [&](Object& object) {
        p4::RevocableDriver& driver = object.system.device();
        const std::vector<p4::Match> match = matches({key, keys});
        const std::vector<p4::u128> values(parameters, parameters + count);
        if (driver.has_entry(table, match)) return driver.modify_entry(table, match, action, values);
        driver.add_entry(table, match, action, values);
    });
}
template <class Object>
int remove_entry(void* handle, const char* table, const uint64_t* key, size_t keys) {
    return guarded<Object>(handle, [&](Object& object) {
        p4::RevocableDriver& driver = object.system.device();
        const std::vector<p4::Match> match = matches({key, keys});
        if (driver.has_entry(table, match)) driver.delete_entry(table, match);
    });
}

inline p4::PortConfig port_of(const polysome_port& from) {
    p4::PortConfig port;
    port.rate = from.rate;
    port.queue_bytes = from.queue_bytes;
    port.first_queue_bytes = from.first_queue_bytes;
    port.metadata = p4::port_metadata(static_cast<p4::PortRole>(from.role), from.index);
    port.append_icrc = from.append_icrc != 0;
    port.loopback = from.loopback != 0;
    port.loop_time = from.loop_time;
    return port;
}

inline polysome_port port_from(uint16_t number, const p4::PortConfig& port) {
    polysome_port found{};
    found.rate = port.rate;
    found.loop_time = port.loop_time;
    found.queue_bytes = port.queue_bytes;
    found.first_queue_bytes = port.first_queue_bytes;
    found.port = number;
    found.role = p4::role_of(port.metadata);
    found.index = p4::index_of(port.metadata);
    found.append_icrc = port.append_icrc;
    found.loopback = port.loopback;
    return found;
}

template <class Object>
int read_counters(void* handle, const char* name, size_t first, size_t count, uint64_t* packets, uint64_t* bytes) {
    return guarded<Object>(handle, [&](Object& object) {
        for (size_t i = 0; i < count; ++i) {
            const p4::CounterValue value = object.system.device().read_counter(name, first + i);
            packets[i] = value.packets;
            bytes[i] = value.bytes;
        }
    });
}

template <class Object>
int read_registers(void* handle, const char* name, size_t first, size_t count, uint64_t* values) {
    return guarded<Object>(handle, [&](Object& object) {
        for (size_t i = 0; i < count; ++i) values[i] = object.system.device().read_register(name, first + i);
    });
}

// ---- the servers' agents

/// 2: the server does not answer.
template <class Object, class Body>
int asked(void* handle, size_t number, Body body) {
    return guarded<Object>(handle, [&](Object& object) {
        Server& server = object.system.server(number);
        if (!server.alive()) return 2;
        body(server, object);
        return 0;
    });
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

/// Defines the library's functions for a translated program and a generated NF, once per library. Tables, registers and
/// counters go by the program's names.
#define POLYSOME_SYSTEM(Program, Nf)                             \
    namespace polysome::system {                                 \
    using LibraryObject = SystemObject<p4::Switch<Program>, Nf>; \
    }                                                            \
    POLYSOME_SYSTEM_RUN(polysome::system::LibraryObject)         \
    POLYSOME_SYSTEM_SWITCH(polysome::system::LibraryObject)      \
    POLYSOME_SYSTEM_AGENTS(polysome::system::LibraryObject)

#define POLYSOME_SYSTEM_RUN(Object)                                                                                  \
    extern "C" {                                                                                                     \
    /* `config`: the NF's config blob. None if it does not work; then `error` says why. */                           \
    void* polysome_system_create(const polysome_system* from, const uint8_t* config, size_t n, char* error,          \
                                 size_t error_size) {                                                                \
        return polysome::system::create<Object>(from, config, n, error, error_size);                                 \
    }                                                                                                                \
    /* Packets, in order of time, and what happens before each; nothing later than `until`. */                       \
    int polysome_system_arrive(void* handle, const polysome_arrival* arrivals, size_t n, uint64_t until) {           \
        return polysome::system::guarded<Object>(handle,                                                             \
                                                 [&](auto& object) { return object.arrive({arrivals, n}, until); }); \
    }                                                                                                                \
    /* A change of the NF's config at `time`; changes are given in order of time, before what arrives then. */       \
    int polysome_system_change_at(void* handle, uint64_t time, const uint8_t* blob, size_t n) {                      \
        return polysome::system::guarded<Object>(handle,                                                             \
                                                 [&](auto& object) { object.system.change_at(time, {blob, n}); });   \
    }                                                                                                                \
    /* Until nothing is on the way; nothing later than `until`. */                                                   \
    int polysome_system_finish(void* handle, uint64_t until) {                                                       \
        return polysome::system::guarded<Object>(handle, [&](auto& object) { return object.finish(until); });        \
    }                                                                                                                \
    void polysome_system_progress(void* handle, polysome_progress* progress) {                                       \
        const auto& object = *static_cast<Object*>(handle);                                                          \
        *progress = {object.system.now(), object.system.next_mishap(), static_cast<uint32_t>(object.taken),          \
                     object.system.resting()};                                                                       \
    }                                                                                                                \
    /* The records since the last call, valid until the next one. */                                                 \
    size_t polysome_system_records(void* handle, const uint8_t** data) {                                             \
        const auto records = static_cast<Object*>(handle)->system.recorder().take();                                 \
        *data = records.data();                                                                                      \
        return records.size();                                                                                       \
    }                                                                                                                \
    /* Lines `name<tab>value`; valid until the next call. */                                                         \
    const char* polysome_system_report(void* handle) {                                                               \
        auto& object = *static_cast<Object*>(handle);                                                                \
        const int failed = polysome::system::guarded<Object>(                                                        \
            handle, [](auto& o) { o.report = polysome::system::report_of(o.system); });                              \
        return failed != 0 ? "" : object.report.c_str();                                                             \
    }                                                                                                                \
    /* Names of what records have numbers for; "" if there is none. */                                               \
    const char* polysome_system_reason(void* handle, uint16_t reason) {                                              \
        const auto reasons = static_cast<Object*>(handle)->system.nf().reasons;                                      \
        return reason < reasons.size() ? reasons[reason].data() : "";                                                \
    }                                                                                                                \
    const char* polysome_system_cause(void* handle, uint16_t cause) {                                                \
        const auto& ledger = static_cast<Object*>(handle)->system.ledger();                                          \
        return cause < ledger.causes() ? ledger.name(cause).c_str() : "";                                            \
    }                                                                                                                \
    const char* polysome_system_link(void* handle, uint16_t link) {                                                  \
        const auto& links = static_cast<Object*>(handle)->system.links();                                            \
        return link < links.size() ? links[link]->name().c_str() : "";                                               \
    }                                                                                                                \
    const char* polysome_system_error(void* handle) { return static_cast<Object*>(handle)->error.c_str(); }          \
    void polysome_system_destroy(void* handle) { delete static_cast<Object*>(handle); }                              \
    }

/// What a controller's driver needs: each takes effect at once, between two frames.
#define POLYSOME_SYSTEM_SWITCH(Object)                                                                                 \
    extern "C" {                                                                                                       \
    int polysome_system_put(void* handle, const char* table, const uint64_t* key, size_t keys, const char* action,     \
                            const uint64_t* parameters, size_t count) {                                                \
        return polysome::system::put_entry<Object>(handle, table, key, keys, action, parameters, count);               \
    }                                                                                                                  \
    int polysome_system_remove(void* handle, const char* table, const uint64_t* key, size_t keys) {                    \
        return polysome::system::remove_entry<Object>(handle, table, key, keys);                                       \
    }                                                                                                                  \
    int polysome_system_clear(void* handle, const char* table) {                                                       \
        return polysome::system::guarded<Object>(handle,                                                               \
                                                 [&](auto& object) { object.system.device().clear_entries(table); });  \
    }                                                                                                                  \
    /* `field` is "" unless the register holds pairs. */                                                               \
    int polysome_system_set_register(void* handle, const char* name, size_t index, const char* field,                  \
                                     uint64_t value) {                                                                 \
        return polysome::system::guarded<Object>(                                                                      \
            handle, [&](auto& object) { object.system.device().write_register(name, index, value, field); });          \
    }                                                                                                                  \
    int polysome_system_set_meter(void* handle, const char* name, size_t index, uint64_t rate, uint64_t burst) {       \
        return polysome::system::guarded<Object>(                                                                      \
            handle, [&](auto& object) { object.system.device().set_meter(name, index, {rate, burst, rate, burst}); }); \
    }                                                                                                                  \
    int polysome_system_set_mirror(void* handle, uint16_t session, uint16_t port, uint32_t max_length) {               \
        return polysome::system::guarded<Object>(                                                                      \
            handle, [&](auto& object) { object.system.device().set_mirror(session, port, max_length); });              \
    }                                                                                                                  \
    int polysome_system_set_group(void* handle, uint16_t group, const uint16_t* ports, size_t count) {                 \
        return polysome::system::guarded<Object>(                                                                      \
            handle, [&](auto& object) { object.system.device().set_multicast(group, std::span(ports, count)); });      \
    }                                                                                                                  \
    int polysome_system_set_port(void* handle, const polysome_port* port) {                                            \
        return polysome::system::guarded<Object>(                                                                      \
            handle, [&](auto& object) { object.system.set_port(port->port, polysome::system::port_of(*port)); });      \
    }                                                                                                                  \
    /* As it is set; 2: it is not. */                                                                                  \
    int polysome_system_port(void* handle, uint16_t number, polysome_port* port) {                                     \
        return polysome::system::guarded<Object>(handle, [&](auto& object) {                                           \
            if (!object.system.device().is_set(number)) return 2;                                                      \
            *port = polysome::system::port_from(number, object.system.device().config(number));                        \
            return 0;                                                                                                  \
        });                                                                                                            \
    }                                                                                                                  \
    int polysome_system_hold(void* handle, uint16_t port, int on) {                                                    \
        return polysome::system::guarded<Object>(handle,                                                               \
                                                 [&](auto& object) { object.system.hold_port(port, on != 0); });       \
    }                                                                                                                  \
    int polysome_system_set_generator(void* handle, uint16_t port, uint64_t period, size_t count) {                    \
        return polysome::system::guarded<Object>(                                                                      \
            handle, [&](auto& object) { object.system.set_generator(port, period, count); });                          \
    }                                                                                                                  \
    int polysome_system_counters(void* handle, const char* name, size_t first, size_t count, uint64_t* packets,        \
                                 uint64_t* bytes) {                                                                    \
        return polysome::system::read_counters<Object>(handle, name, first, count, packets, bytes);                    \
    }                                                                                                                  \
    int polysome_system_registers(void* handle, const char* name, size_t first, size_t count, uint64_t* values) {      \
        return polysome::system::read_registers<Object>(handle, name, first, count, values);                           \
    }                                                                                                                  \
    /* From now on a run stops at a look, one each `period`, at which the first cells of a register have changed. */   \
    int polysome_system_watch(void* handle, const char* name, size_t count, uint64_t period) {                         \
        return polysome::system::guarded<Object>(handle,                                                               \
                                                 [&](auto& object) { object.system.watch(name, count, period); });     \
    }                                                                                                                  \
    /* How often each outcome of the program happened (switch/coverage.hpp); valid until the next call. */             \
    size_t polysome_system_coverage(void* handle, const uint64_t** counts) {                                           \
        return polysome::system::coverage<Object>(handle, counts);                                                     \
    }                                                                                                                  \
    }

/// What the agent of a server does and says; each returns 2 if the server does not answer.
#define POLYSOME_SYSTEM_AGENTS(Object)                                                                          \
    extern "C" {                                                                                                \
    /* Which of its runs this is, and which of its queue pairs are ready: a byte each. */                       \
    int polysome_system_agent(void* handle, size_t server, uint64_t* run, uint8_t* ready, size_t queue_pairs) { \
        return polysome::system::asked<Object>(handle, server, [&](auto& found, auto&) {                        \
            *run = found.run();                                                                                 \
            for (uint32_t pair = 0; pair < queue_pairs; ++pair) ready[pair] = found.ready(pair);                \
        });                                                                                                     \
    }                                                                                                           \
    int polysome_system_reset(void* handle, size_t server, uint32_t pair, uint32_t peer, uint32_t* number,      \
                              uint32_t* psn) {                                                                  \
        return polysome::system::asked<Object>(handle, server, [&](auto& found, auto& object) {                 \
            const auto made = found.reset(pair, object.switch_ip, peer);                                        \
            *number = made.qpn;                                                                                 \
            *psn = made.psn;                                                                                    \
        });                                                                                                     \
    }                                                                                                           \
    int polysome_system_clear_memory(void* handle, size_t server) {                                             \
        return polysome::system::asked<Object>(handle, server, [](auto& found, auto&) { found.clear(); });      \
    }                                                                                                           \
    }
