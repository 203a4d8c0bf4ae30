/// An NF as a shared library with a C ABI: POLYSOME_LIBRARY(Nf) defines its functions. `polysome run --engine native`
/// is one user; any other language may be.
///
/// Functions return 0 if all is well and 1 if not; then polysome_error says why. No exception leaves a function. An
/// object is used by one thread at a time.
///
/// Records (polysome_records) are what happened since the last call, in its order. Each is little-endian:
///   u8 kind    0 a packet left, 1 one was emitted, 2 one was dropped, 3 a handler is about to run
///   u8 0
///   u16 port   (2: the drop reason's number)
///   u32 size
///   u64 time   ns
///   u64 order  of the packet that arrived, from 0 (1: of the packet whose handler emitted; all ones if none's did)
///   then `size` bytes: 0, 1: the packet; 3: the canonical bytes of its order class; size 0xffffffff, and no bytes, if
///   the packet does not meet the program's contract and so has no class
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "nf/sharded.hpp"

extern "C" {
/// A frame that arrives. Its bytes are copied.
struct polysome_arrival {
    uint64_t time;  ///< ns
    const uint8_t* data;
    uint32_t size;
    uint16_t port;
    uint16_t pad;
};
}

namespace polysome::library {

/// Writes records.
template <class Nf>
class Recorder {
  public:
    using Packet = typename Nf::Packet;

    /// Core 0's, whose time is that of all when a packet is treated. Set once the machines, which need the recorder,
    /// are there.
    const Nf* nf = nullptr;

    void left(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t order) {
        write(0, port, time, order, bytes);
    }
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t cause) {
        write(1, port, time, cause, bytes);
    }
    void dropped(uint64_t order, uint16_t reason) { write(2, reason, nf->clock.now, order, {}); }
    void decided(uint64_t order, uint64_t time, const Packet& packet) {
        if (!nf->passes(packet)) {
            header(3, 0, std::numeric_limits<uint32_t>::max(), time, order);
            return;
        }
        std::array<uint8_t, Nf::most_class_bytes> bytes;
        write(3, 0, time, order, {bytes.data(), nf->class_bytes(packet, bytes.data())});
    }

    std::span<const uint8_t> take() {
        given_.swap(records_);
        records_.clear();
        return given_;
    }

  private:
    void write(uint8_t kind, uint16_t port, uint64_t time, uint64_t order, std::span<const uint8_t> bytes) {
        header(kind, port, static_cast<uint32_t>(bytes.size()), time, order);
        records_.insert(records_.end(), bytes.begin(), bytes.end());
    }
    void header(uint8_t kind, uint16_t port, uint32_t size, uint64_t time, uint64_t order) {
        number(kind, 2);
        number(port, 2);
        number(size, 4);
        number(time, 8);
        number(order, 8);
    }
    void number(uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) records_.push_back(static_cast<uint8_t>(value >> 8 * i));
    }

    std::vector<uint8_t> records_;
    std::vector<uint8_t> given_;
};

/// What the functions' handle points to.
template <class Nf>
class Object {
  public:
    Object(uint32_t cores, std::span<const uint64_t> sizes, bool collide, size_t batch)
        : sizes_(sizes.begin(), sizes.end()), collide_(collide), batch_(batch) {
        start(cores);
    }

    /// The NF goes on in another one, which takes the state over, as after a restart of its process with this config.
    void restart(std::span<const uint8_t> config) {
        if (machines->cores() != 1) throw std::runtime_error("only an NF on one core hands its state over");
        Saver saver;
        saver(machines->machine(0));
        const std::vector<uint8_t> state = saver.take();
        start(1);
        Loader loader(state);
        loader(machines->machine(0));
        if (!loader.done()) throw std::runtime_error("the state is not what was saved");
        if (!machines->configure(config)) throw std::runtime_error("the config is malformed");
    }

    void arrive(const polysome_arrival* arrivals, size_t n) {
        for (size_t done = 0; done < n;) {
            const size_t count = std::min(n - done, largest_batch);
            size_t bytes = 0;
            for (size_t i = 0; i < count; ++i) bytes += arrivals[done + i].size;
            frames_.resize(bytes);
            std::array<Arrival, largest_batch> batch;
            uint8_t* to = frames_.data();
            for (size_t i = 0; i < count; ++i) {
                const polysome_arrival& from = arrivals[done + i];
                if (from.size != 0) std::memcpy(to, from.data, from.size);
                batch[i] = {from.time, to, from.size, from.port};
                to += from.size;
            }
            machines->arrive(std::span(batch).first(count));
            done += count;
        }
    }

    /// By name: packets_in, sent, copies, emitted, held, cores, or a drop reason; 0 for any other.
    uint64_t counter(std::string_view name) const {
        const auto counters = machines->counters();
        if (name == "packets_in") return counters.packets_in;
        if (name == "sent") return counters.sent;
        if (name == "copies") return counters.copies;
        if (name == "emitted") return counters.emitted;
        if (name == "held") return machines->held();
        if (name == "cores") return machines->cores();
        for (size_t i = 1; i < Nf::reasons.size(); ++i) {
            if (name == Nf::reasons[i]) return counters.dropped[i];
        }
        return 0;
    }

    Recorder<Nf> recorder;
    std::optional<Sharded<Nf, Recorder<Nf>>> machines;
    std::string error;

  private:
    void start(uint32_t cores) {
        machines.emplace(recorder, cores, sizes_, collide_, batch_);
        recorder.nf = &machines->machine(0).nf();
    }

    std::vector<uint64_t> sizes_;
    bool collide_;
    size_t batch_;
    std::vector<uint8_t> frames_;
};

/// Runs `body`; what it throws becomes the object's error.
template <class Nf, class Body>
int guarded(void* handle, Body body) {
    auto& object = *static_cast<Object<Nf>*>(handle);
    try {
        body(object);
        if (object.machines->failed()) {
            object.error = "a config change is malformed";
            return 1;
        }
        return 0;
    } catch (const std::exception& e) {
        object.error = e.what();
    } catch (...) {
        object.error = "an unknown error";
    }
    return 1;
}

template <class Nf>
void* create(const uint8_t* config, size_t n, const uint64_t* sizes, size_t count, uint32_t cores, uint32_t batch,
             bool collide, char* error, size_t error_size) {
    const char* problem;
    std::string message;
    try {
        auto object = std::make_unique<Object<Nf>>(cores, std::span(sizes, count), collide,
                                                   batch == 0 ? largest_batch : size_t{batch});
        if (object->machines->configure({config, n})) return object.release();
        problem = "the config is malformed";
    } catch (const std::bad_alloc&) {
        problem = "not enough memory for the state of this NF";
    } catch (const std::exception& e) {
        message = e.what();
        problem = message.c_str();
    } catch (...) {
        problem = "an unknown error";
    }
    if (error != nullptr && error_size != 0) std::snprintf(error, error_size, "%s", problem);
    return nullptr;
}

}  // namespace polysome::library

/// Defines the library's functions for `Nf`, a generated NF. Once per library.
#define POLYSOME_LIBRARY(Nf)                                                                                          \
    extern "C" {                                                                                                      \
    void* polysome_create(const uint8_t* config, size_t n, const uint64_t* sizes, size_t count, uint32_t cores,       \
                          uint32_t batch, uint32_t collide, char* error, size_t error_size) {                         \
        return polysome::library::create<Nf>(config, n, sizes, count, cores, batch, collide != 0, error, error_size); \
    }                                                                                                                 \
    int polysome_arrive(void* handle, const polysome_arrival* arrivals, size_t n) {                                   \
        return polysome::library::guarded<Nf>(handle, [&](auto& object) { object.arrive(arrivals, n); });             \
    }                                                                                                                 \
    int polysome_advance(void* handle, uint64_t time) {                                                               \
        return polysome::library::guarded<Nf>(handle, [&](auto& object) { object.machines->advance(time); });         \
    }                                                                                                                 \
    int polysome_change_at(void* handle, uint64_t time, const uint8_t* blob, size_t n) {                              \
        return polysome::library::guarded<Nf>(handle,                                                                 \
                                              [&](auto& object) { object.machines->change_at(time, {blob, n}); });    \
    }                                                                                                                 \
    int polysome_restart(void* handle, const uint8_t* config, size_t n) {                                             \
        return polysome::library::guarded<Nf>(handle, [&](auto& object) { object.restart({config, n}); });            \
    }                                                                                                                 \
    int polysome_finish(void* handle) {                                                                               \
        return polysome::library::guarded<Nf>(handle, [&](auto& object) { object.machines->finish(); });              \
    }                                                                                                                 \
    size_t polysome_records(void* handle, const uint8_t** data) {                                                     \
        const auto records = static_cast<polysome::library::Object<Nf>*>(handle)->recorder.take();                    \
        *data = records.data();                                                                                       \
        return records.size();                                                                                        \
    }                                                                                                                 \
    const char* polysome_reason(uint16_t reason) {                                                                    \
        return reason < Nf::reasons.size() ? Nf::reasons[reason].data() : "";                                         \
    }                                                                                                                 \
    uint64_t polysome_counter(void* handle, const char* name) {                                                       \
        return static_cast<polysome::library::Object<Nf>*>(handle)->counter(name);                                    \
    }                                                                                                                 \
    const char* polysome_error(void* handle) {                                                                        \
        return static_cast<polysome::library::Object<Nf>*>(handle)->error.c_str();                                    \
    }                                                                                                                 \
    void polysome_destroy(void* handle) { delete static_cast<polysome::library::Object<Nf>*>(handle); }               \
    }
