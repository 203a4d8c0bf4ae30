/// The state that one process of an NF leaves for the next on this machine: a file that is taken once, and soon.
///
/// A line (hash of what the state is made of, the machine's boot, when it was written in ns since that boot, the offset
/// of the NF's clock, size), then the state as runtime/nf/archive.hpp has it.
#pragma once

#include <ctime>

#include "host/fields_store.hpp"
#include "nf/archive.hpp"

namespace polysome::host {

struct HandedOver {
    std::string state;
    uint64_t clock_offset;
};

class Handover {
  public:
    /// `layout`: what the NF's state is made of (Nf::state_layout).
    Handover(const StateFolder& folder, std::string_view layout) : folder_(folder), layout_(layout) {}

    /// What the process before left; nothing if it left none. It is gone with that. `why`: it is of no use.
    std::optional<HandedOver> take(std::string& why) const {
        const auto text = folder_.read(name);
        if (!text) return std::nullopt;
        folder_.remove(name);
        std::istringstream file(*text);
        std::string layout, machine;
        uint64_t written = 0, size = 0;
        HandedOver found;
        file >> layout >> machine >> written >> found.clock_offset >> size;
        file.get();
        const auto at = static_cast<size_t>(std::max<std::streamoff>(0, file.tellg()));
        if (!file || text->size() - at != size) {
            why = "the state that the process before left is not all there";
        } else if (layout != layout_) {
            why = "the process before had another version of this NF, whose state is made up in another way";
        } else if (machine != this_boot() || since_boot() - written > longest) {
            why = "the process before ended long ago";
        } else {
            found.state = text->substr(at);
            return found;
        }
        return std::nullopt;
    }

    /// Failure(3) if it cannot be written.
    void leave(std::span<const uint8_t> state, uint64_t clock_offset) const {
        std::ostringstream head;
        head << layout_ << ' ' << this_boot() << ' ' << since_boot() << ' ' << clock_offset << ' ' << state.size()
             << '\n';
        folder_.write(name, head.str(), {reinterpret_cast<const char*>(state.data()), state.size()}, false);
    }

  private:
    static constexpr const char* name = "state";
    static constexpr uint64_t longest = 30'000'000'000;  ///< ns

    static uint64_t since_boot() {
        timespec t{};
        clock_gettime(CLOCK_BOOTTIME, &t);
        return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
    }
    static std::string this_boot() {
        std::string boot = "unknown";
        std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
        return boot;
    }

    const StateFolder& folder_;
    std::string layout_;
};

}  // namespace polysome::host
