// Decides on packets as their fields, without a switch: takes the fields from the packets, and prints what becomes of
// the frames. NF_HEADER is a generated header, NF_NAME its NF.
//
// Input, big-endian: u32 cores; u32 size and bytes of the config; then items: u8 what, u64 time, u16 port, u32 size and
// bytes. `what` is a packet that a switch would split if its class is known (0), one that travels whole (1), itself a
// frame from the switch (2), or a config change (3).
// Output, a line for each: `frame ORDER BYTES`; then what the sink is told, in order: `decided ORDER TIME TAG`,
// `left ORDER TIME PORT BYTES`, `emitted CAUSE TIME PORT BYTES`, `dropped ORDER REASON`;
// last `counted PACKETS_IN SENT COPIES EMITTED HELD`.
#include NF_HEADER

#include <cstdio>
#include <string>

#include "nf/fields_frames.hpp"
#include "nf/sharded.hpp"

namespace {

using namespace polysome;
using Nf = nf::NF_NAME::Nf;
using Bytes = std::vector<uint8_t>;

struct Input {
    Bytes bytes;
    size_t at = 0;

    template <class T>
    T number() {
        at += sizeof(T);
        return load<T>(bytes.data() + at - sizeof(T));
    }
    Bytes piece() {
        const size_t size = number<uint32_t>();
        at += size;
        return {bytes.data() + at - size, bytes.data() + at};
    }
};

void print(std::span<const uint8_t> bytes) {
    for (const uint8_t byte : bytes) std::printf("%02x", byte);
    std::printf("\n");
}

struct Events {
    void left(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t order) {
        std::printf("left %zu %zu %u ", size_t{order}, size_t{time}, port);
        print(bytes);
    }
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t cause) {
        std::printf("emitted %zd %zu %u ", static_cast<ssize_t>(cause), size_t{time}, port);
        print(bytes);
    }
    void dropped(uint64_t order, uint16_t reason) {
        std::printf("dropped %zu %s\n", size_t{order}, std::string(FieldsNf<Nf>::reasons[reason]).c_str());
    }
    void decided(uint64_t order, uint64_t now, const FieldsNf<Nf>::Packet& packet) {
        std::printf("decided %zu %zu ", size_t{order}, size_t{now});
        print({packet.frame() + Tag::link, Tag::head - Tag::link});
    }
};

/// The frame that a switch would send of a packet: its fields, or all of it.
Bytes frame_of(const Nf& nf, const Bytes& packet, uint16_t port, bool whole, uint32_t seq) {
    Nf::Packet parsed;
    nf.parse(packet.data(), static_cast<uint32_t>(packet.size()), port, parsed);
    const uint8_t number = whole || parsed.headers.is_short() ? uint8_t{0} : Nf::frame_class(parsed);
    Bytes frame(Tag::head + std::max(Nf::most_fields, packet.size()));
    size_t bytes = packet.size();
    if (number == 0) {
        std::copy(packet.begin(), packet.end(), frame.begin() + Tag::head);
    } else {
        bytes = Nf::write_fields(parsed, number, frame.data() + Tag::head);
    }
    // A whole packet's end is the frame's.
    frame.resize(number == 0 ? Tag::head + bytes : std::max(Tag::smallest, Tag::head + bytes));
    std::copy_n("server\x02witch", Tag::link - 2, frame.begin());
    Tag::begin(frame.data(), number == 0 ? Tag::whole : Tag::split, number);
    Tag::Layout::seq::write(frame.data() + Tag::link, seq);
    Tag::set_length(frame.data(), parsed.headers.length());
    Tag::set_port(frame.data(), port);
    return frame;
}

}  // namespace

int main() {
    enum { packet = 0, whole = 1, made = 2, change = 3 };
    Input input;
    for (int byte; (byte = std::getchar()) != EOF;) input.bytes.push_back(static_cast<uint8_t>(byte));
    Events events;
    Sharded<FieldsNf<Nf>, Events> machine(events, input.number<uint32_t>());
    if (!machine.configure(input.piece())) return 1;
    std::vector<Bytes> frames;
    std::vector<Arrival> arrivals;
    while (input.at < input.bytes.size()) {
        const auto what = input.number<uint8_t>();
        const auto time = input.number<uint64_t>();
        const auto port = input.number<uint16_t>();
        const Bytes bytes = input.piece();
        if (what == change) {
            machine.change_at(time, bytes);
            continue;
        }
        const auto seq = static_cast<uint32_t>(frames.size() + 1);
        const Nf& nf = machine.machine(0).nf();
        frames.push_back(what == made ? bytes : frame_of(nf, bytes, port, what == whole, seq));
        Bytes& frame = frames.back();
        std::printf("frame %zu ", arrivals.size());
        print(frame);
        arrivals.push_back({time, frame.data(), static_cast<uint32_t>(frame.size()), Tag::port(frame.data())});
    }
    machine.arrive(arrivals);
    machine.finish();
    const auto count = machine.counters();
    std::printf("counted %zu %zu %zu %zu %zu\n", size_t{count.packets_in}, size_t{count.sent}, size_t{count.copies},
                size_t{count.emitted}, size_t{machine.held()});
    return machine.failed() ? 1 : 0;
}
