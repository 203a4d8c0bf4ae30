/// read_bits, slice_bytes and write_bits are what they are bit by bit, and touch nothing beyond the frame (L4.9).
#include "fuzz_input.hpp"

using namespace tiny;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const uint32_t bit = static_cast<uint32_t>(input.bits(10)), width = 1 + input.below(128), end_of = input.byte();
    const u128 value = input.bits(width);
    Bytes frame = input.bytes(256);
    const uint32_t end = end_of < frame.size() ? end_of : static_cast<uint32_t>(frame.size());
    const auto at = [&](uint32_t b) -> uint32_t { return b / 8 < end ? frame[b / 8] >> (7 - b % 8) & 1 : 0; };

    u128 slow = 0;
    for (uint32_t b = bit; b < bit + width; ++b) slow = slow << 1 | at(b);
    check(read_bits(frame.data(), bit, width, end) == slow, "read_bits is bit by bit");
    const uint32_t low = bit / 8, bytes = width / 8;
    slow = 0;
    for (uint32_t b = (low + 2) * 8; b < (low + 2 + bytes) * 8; ++b) slow = slow << 1 | at(b);
    check(slice_bytes(frame.data(), low, low + bytes, 2, end) == slow, "slice_bytes is bit by bit");

    const Bytes before = frame;
    write_bits(frame.data(), bit, width, value, end);
    for (uint32_t b = 0; b < frame.size() * 8; ++b) {
        const bool written = b >= bit && b < bit + width && b / 8 < end;
        const uint32_t wanted =
            written ? static_cast<uint32_t>(value >> (bit + width - 1 - b) & 1) : before[b / 8] >> (7 - b % 8) & 1u;
        check((frame[b / 8] >> (7 - b % 8) & 1u) == wanted, "write_bits writes the field and nothing beside");
    }
    return 0;
}
