/// apply writes the fields, keeps every checksum as right or wrong as it was, and touches nothing else (L10.2).
#include "fuzz_input.hpp"
#include "nf/apply.hpp"

using namespace tiny;

namespace {

/// What the checksum of the header at `position` covers, its own field zero.
Bytes covered(const Bytes& frame, const Placed& p, uint8_t position, const FieldShape& own) {
    const uint8_t i = p.path[position];
    Bytes bytes;
    for (uint8_t n = position; own.checksum->pseudo && n-- > 0;) {
        const uint8_t j = p.path[n];
        const HeaderShape& header = protocols.headers[protocols.instances[j].header];
        if (header.pseudo.empty()) continue;
        for (const uint16_t f : header.pseudo) {
            const uint32_t at = p.offset[j] + header.fields[f].offset / 8u;
            bytes = bytes + part(frame, at, at + header.fields[f].width / 8u);
        }
        break;
    }
    const uint32_t end = own.checksum->rest ? std::max(p.limit[i], p.header_end[i]) : p.header_end[i];
    Bytes body = part(frame, p.offset[i], end);
    put16(body, own.offset / 8u, 0);
    return bytes + body;
}

void check_checksum(const Bytes& before, const Bytes& after, const Placed& p, uint8_t position, const FieldShape& f) {
    const uint32_t at = p.offset[p.path[position]] + f.offset / 8u;
    if (at + 2 > p.header_end[p.path[position]]) return;
    const uint16_t old = load<uint16_t>(before.data() + at), now = load<uint16_t>(after.data() + at);
    const Bytes was = covered(before, p, position, f), is = covered(after, p, position, f);
    if (was == is) return check(now == old, "a checksum of which nothing changed is not touched");
    if (f.checksum->zero_is_none && old == 0) return check(now == 0, "zero is none");
    // The sum of what is covered and the checksum stays the same modulo 65535.
    const int64_t change = int64_t{sum_of(is)} - sum_of(was) - (int64_t{now} - old);
    check(change % 0xffff == 0, "a checksum is as wrong as it was");
    check(now != (f.checksum->never_zero ? 0 : 0xffff), "never ffff, or never zero");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    Bytes frame;
    const Placed p = input.packet(frame);
    const std::vector<FieldEdit> edits = input.edits(p);
    const Bytes before = frame;
    check(apply(protocols, p, edits, frame.data()) == p.end, "the length stays");

    Bytes masked = frame, wanted = before;
    for (const FieldEdit& edit : edits) {
        const FieldShape& f = headers[instance_shapes[edit.instance].header].fields[edit.field];
        const uint32_t start = p.offset[edit.instance] * 8 + f.offset;
        write_bits(wanted.data(), start, f.width, edit.value, p.header_end[edit.instance]);
    }
    for (uint8_t n = p.depth; n-- > 0;) {
        const uint8_t i = p.path[n];
        const HeaderShape& header = headers[instance_shapes[i].header];
        for (const uint16_t f : header.checksums) {
            check_checksum(before, frame, p, n, header.fields[f]);
            const uint32_t at = p.offset[i] * 8 + header.fields[f].offset;
            write_bits(masked.data(), at, 16, 0, p.header_end[i]);
            write_bits(wanted.data(), at, 16, 0, p.header_end[i]);
        }
    }
    check(masked == wanted, "fields are written, and nothing else but checksums changes");
    const Bytes once = frame;
    apply(protocols, p, edits, frame.data());
    check(frame == once, "writing the same again changes nothing");
    return 0;
}
