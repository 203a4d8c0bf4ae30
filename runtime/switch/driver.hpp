// What a controller needs of a switch, whichever it is: tables, registers, counters, mirror sessions, multicast groups,
// meters; and what one needs of it who takes such a controller's changes all together or not at all. Names are those of
// the program as BfRt has them, "Ingress.bucket". All errors are std::invalid_argument; the text names the table, field
// or action at fault.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "switch/bits.hpp"

namespace polysome::p4 {

/// One key of an entry. `mask` counts for ternary keys only, `prefix` (bits from the highest) for lpm keys only.
struct Match {
    u128 value = 0;
    u128 mask = ~u128{0};
    unsigned prefix = 0;
};

struct CounterValue {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};

/// Rates in bit/s, bursts in bytes (RFC 2698); a packet meter takes packets/s and packets.
struct MeterRates {
    std::uint64_t cir = 0, cbs = 0, pir = 0, pbs = 0;
};

class SwitchDriver {
  public:
    virtual ~SwitchDriver() = default;

    /// A new entry; the keys and parameters in the order of the program. Of ternary entries that match, the one of
    /// smallest priority wins, among equals the one added first. Refuses one that is there, and one too many.
    virtual void add_entry(std::string_view table, std::span<const Match> key, std::string_view action,
                           std::span<const u128> params = {}, std::uint32_t priority = 0) = 0;
    virtual void modify_entry(std::string_view table, std::span<const Match> key, std::string_view action,
                              std::span<const u128> params = {}) = 0;
    virtual void delete_entry(std::string_view table, std::span<const Match> key) = 0;
    virtual void clear_entries(std::string_view table) = 0;
    virtual void set_default(std::string_view table, std::string_view action, std::span<const u128> params = {}) = 0;
    virtual std::size_t count_entries(std::string_view table) const = 0;

    /// `field` chooses of a pair; it is "" for a register of plain values.
    virtual std::uint64_t read_register(std::string_view name, std::size_t index,
                                        std::string_view field = "") const = 0;
    virtual void write_register(std::string_view name, std::size_t index, std::uint64_t value,
                                std::string_view field = "") = 0;
    virtual CounterValue read_counter(std::string_view name, std::size_t index) const = 0;
    virtual void set_meter(std::string_view name, std::size_t index, const MeterRates& rates) = 0;

    /// Mirror copies of this session go to a port's queue, cut to `max_length` bytes (0: whole).
    virtual void set_mirror(std::uint16_t session, std::uint16_t port, std::uint32_t max_length,
                            std::uint8_t queue = 0) = 0;
    virtual void set_multicast(std::uint16_t group, std::span<const std::uint16_t> ports, std::uint16_t rid = 0) = 0;
};

/// Puts something back as it was; to be called after all changes that came later are put back.
using Undo = std::function<void()>;

struct PortConfig;

/// A switch whose changes can be taken back.
class RevocableDriver : public SwitchDriver {
  public:
    virtual void set_port(std::uint16_t number, const PortConfig& config) = 0;
    /// Frames wait in the queues of a port that is set, until it is not held any more, or set anew.
    virtual void hold_port(std::uint16_t number, bool on) = 0;
    virtual bool has_entry(std::string_view table, std::span<const Match> key) const = 0;

    /// Each remembers what is there now: one entry, or that there is none; all entries of a table; a meter, with what
    /// its buckets hold. A register's cell needs no more than read_register().
    virtual Undo remember_entry(std::string_view table, std::span<const Match> key) = 0;
    virtual Undo remember_entries(std::string_view table) = 0;
    virtual Undo remember_meter(std::string_view name, std::size_t index) = 0;
};

}  // namespace polysome::p4
