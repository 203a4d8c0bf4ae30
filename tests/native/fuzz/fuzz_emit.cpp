/// make: every checksum of the packet is right, and its bytes are those of its headers and the payload (L9.7, L10.4).
#include "fuzz_input.hpp"
#include "nf/emit.hpp"

using namespace tiny;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    Operations made_of(input.below(20));
    uint64_t bytes = 0;
    for (Operation& operation : made_of) {
        operation.header = static_cast<uint16_t>(input.below(static_cast<uint32_t>(protocols.headers.size())));
        operation.given = input.given(protocols.headers[operation.header]);
        bytes += headers[operation.header].fixed;
    }
    const Bytes payload = input.bytes(300);
    Bytes out;
    make(protocols, made_of, payload, out);
    check(out.size() == bytes + payload.size(), "headers and payload, no more");
    check(std::equal(payload.begin(), payload.end(), out.begin() + static_cast<std::ptrdiff_t>(bytes)), "the payload");
    size_t at = 0;
    for (const Operation& operation : made_of) {
        // Those of IPv4 and ICMP cover nothing from before the header.
        if (operation.header == IPV4) check(sum_of(part(out, at, at + 20)) % 0xffff == 0, "IPv4's checksum");
        if (operation.header == ICMP) check(sum_of(part(out, at, out.size())) % 0xffff == 0, "ICMP's checksum");
        if (operation.header == UDP) check(load<uint16_t>(out.data() + at + 6) != 0, "UDP has a checksum");
        at += headers[operation.header].fixed;
    }
    return 0;
}
