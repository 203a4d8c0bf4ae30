// Asks what would become of each packet, then lets it arrive: as a host behind a switch, without one.
//
// NF_HEADER, NF_NAME: the NF. Input: u32 size of the config, config, then for each packet u16 port, u32 size, bytes;
// all big-endian. Output, a line each: `would` and `did` with ports (a mask), drop reason or `-`, packet in hexadecimal
// or
// `-`; `look` with state, operation, key and what was found. Parts are separated by tabs.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "host/fields_nf.hpp"
#include NF_HEADER

using namespace polysome;
using namespace polysome::host;
using Nf = polysome::nf::NF_NAME::Nf;

namespace {

std::string hex(std::span<const uint8_t> bytes) {
    std::string text;
    for (const uint8_t byte : bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text.empty() ? "-" : text;
}

struct Out {
    uint64_t ports = 0;
    std::vector<uint8_t> packet;

    void send(std::span<const uint8_t> frame, uint64_t order) {
        if (order == no_packet) return;
        const uint16_t port = Tag::port(frame.data());
        ports |= (port & Tag::port_set) != 0 ? port & ~Tag::port_set : uint64_t{1} << port;
        const auto leaves = Tag::packet(frame);
        packet.assign(leaves.begin(), leaves.end());
    }
};

/// The reason of the packet that was dropped since `before`.
std::string dropped(const FieldsStatistics& before, const FieldsStatistics& after) {
    for (const NamedCount& one : after.drops) {
        const auto same = [&](const NamedCount& old) { return old.name == one.name && old.value == one.value; };
        if (std::none_of(before.drops.begin(), before.drops.end(), same)) return one.name;
    }
    return "";
}

void say(const char* what, uint64_t ports, const std::string& reason, std::span<const uint8_t> packet) {
    std::printf("%s\t%llu\t%s\t%s\n", what, static_cast<unsigned long long>(ports),
                reason.empty() ? "-" : reason.c_str(), hex(packet).c_str());
}

}  // namespace

int main() {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const auto* at = reinterpret_cast<const uint8_t*>(input.data());
    const uint8_t* const end = at + input.size();
    const auto take = [&](size_t size) {
        const std::span<const uint8_t> bytes(at, size);
        at += size;
        return bytes;
    };
    Out out;
    FieldsHost<Nf, Out> host(out);
    const uint32_t config = load<uint32_t>(take(4).data());
    if (!host.configure(take(config)).empty()) return 2;
    while (at != end) {
        const uint16_t port = load<uint16_t>(take(2).data());
        const uint32_t size = load<uint32_t>(take(4).data());
        const auto packet = take(size);
        Outcome outcome;
        const auto said =
            host.attempt(port, packet).answer_by(std::chrono::steady_clock::now() + std::chrono::seconds(9));
        if (!said || !read_outcome(*said, outcome)) return 3;
        say("would", outcome.ports, outcome.reason, outcome.packet);
        for (const LookupText& one : outcome.lookups) {
            std::printf("look\t%s\t%s\t%s\t%s\n", one.state.c_str(), one.operation.c_str(), one.key.c_str(),
                        one.found.c_str());
        }
        const FieldsStatistics before = host.statistics(0, 0);
        out = {};
        std::vector<uint8_t> frame(Tag::head + size);
        Tag::begin(frame.data(), Tag::whole);
        Tag::set_port(frame.data(), port);
        std::copy(packet.begin(), packet.end(), frame.begin() + Tag::head);
        const Arrival arrival{host.clock(), frame.data(), static_cast<uint32_t>(frame.size()), port};
        host.arrive({&arrival, 1});
        while (host.statistics(0, 0).held != 0) host.advance();
        // Its other copies may leave later than the first.
        for (const uint64_t start = host.clock(); !Nf::Policy::immediate && host.clock() < start + 20'000'000;) {
            host.advance();
        }
        say("did", out.ports, dropped(before, host.statistics(0, 0)), out.packet);
    }
    return 0;
}
