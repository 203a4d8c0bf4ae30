// Decides on packets as their fields, without a switch: takes the fields from the packets, and prints what becomes of
// the frames. NF_HEADER is a generated header, NF_NAME its NF.
//
// Input, big-endian: u32 size and bytes of the config; then for each packet u64 time, u16 port, u32 size and bytes; a
// packet for port ffff is itself a frame from the switch. Output, a line for each: `frame ORDER BYTES`,
// `left ORDER BYTES`, `dropped ORDER REASON`.
#include NF_HEADER

#include <cstdio>
#include <string>

#include "nf/fields_frames.hpp"
#include "nf/machine.hpp"

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

void print(const char* what, size_t order, std::span<const uint8_t> bytes) {
    std::printf("%s %zu ", what, order);
    for (const uint8_t byte : bytes) std::printf("%02x", byte);
    std::printf("\n");
}

struct Answers {
    void left(uint16_t, uint64_t, std::span<const uint8_t> bytes, uint64_t order) { print("left", order, bytes); }
    void emitted(uint16_t, uint64_t, std::span<const uint8_t>, uint64_t) {}
    void dropped(uint64_t order, uint16_t reason) {
        std::printf("dropped %zu %s\n", size_t{order}, std::string(FieldsNf<Nf>::reasons[reason]).c_str());
    }
    template <class Packet>
    void decided(uint64_t, uint64_t, const Packet&) {}
};

/// The frame that a switch would send of a packet: its fields, or all of it.
Bytes frame_of(const Nf& nf, const Bytes& packet, uint16_t port) {
    Nf::Packet parsed;
    nf.parse(packet.data(), static_cast<uint32_t>(packet.size()), port, parsed);
    const uint8_t number = parsed.headers.is_short() ? uint8_t{0} : Nf::frame_class(parsed);
    Bytes frame(Tag::head + std::max(Nf::most_fields, packet.size()));
    size_t bytes = packet.size();
    if (number == 0) {
        std::copy(packet.begin(), packet.end(), frame.begin() + Tag::head);
    } else {
        bytes = Nf::write_fields(parsed, number, frame.data() + Tag::head);
    }
    // A whole packet's end is the frame's.
    frame.resize(number == 0 ? Tag::head + bytes : std::max(Tag::smallest, Tag::head + bytes));
    std::copy_n("switchserver\x88\xb5", Tag::link, frame.begin());
    frame[Tag::link] = static_cast<uint8_t>(Tag::version << 4 | (number == 0 ? Tag::whole : 0));
    frame[Tag::link + 1] = number;
    store(frame.data() + Tag::link + 8, static_cast<uint16_t>(parsed.headers.length()));
    Tag::set_port(frame.data(), port);
    return frame;
}

}  // namespace

int main() {
    Input input;
    for (int byte; (byte = std::getchar()) != EOF;) input.bytes.push_back(static_cast<uint8_t>(byte));
    Answers answers;
    Machine<FieldsNf<Nf>, Answers> machine(answers);
    if (!machine.configure(input.piece())) return 1;
    std::vector<Bytes> frames;
    std::vector<Arrival> arrivals;
    while (input.at < input.bytes.size()) {
        const auto time = input.number<uint64_t>();
        const auto port = input.number<uint16_t>();
        const Bytes packet = input.piece();
        frames.push_back(port == 0xffff ? packet : frame_of(machine.nf(), packet, port));
        Bytes& frame = frames.back();
        print("frame", arrivals.size(), frame);
        arrivals.push_back({time, frame.data(), static_cast<uint32_t>(frame.size()), Tag::port(frame.data())});
    }
    machine.arrive(arrivals);
    machine.finish();
}
