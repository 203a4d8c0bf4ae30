/// rebuild: the sizes of what stays, comes and goes; without operations it is apply; push and pop undo each other.
#include "fuzz_input.hpp"
#include "nf/rebuild.hpp"

using namespace tiny;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    Bytes frame;
    const Placed p = input.packet(frame);
    const std::vector<FieldEdit> edits = input.edits(p);
    const Operations operations = input.operations(p);

    Bytes plain = frame, out;
    plain.resize(apply(protocols, p, edits, plain.data()));
    Bytes copy = frame;
    rebuild(protocols, p, edits, {}, copy.data(), out);
    check(out == plain, "without operations it is apply");

    bool popped[instances] = {};
    uint64_t headers_then = 0, most = UINT64_MAX;
    for (const Operation& operation : operations) {
        if (operation.kind == Operation::Kind::truncate) most = std::min(most, operation.size);
        if (operation.kind == Operation::Kind::push) headers_then += headers[operation.header].fixed;
        if (operation.kind != Operation::Kind::pop) continue;
        const auto first = std::find(p.path.begin(), p.path.begin() + p.depth, operation.first);
        for (auto i = first; i == first || *(i - 1) != operation.last; ++i) popped[*i] = true;
    }
    for (uint8_t n = 0; n < p.depth; ++n) {
        const uint8_t i = p.path[n];
        if (!popped[i]) headers_then += p.header_end[i] - p.offset[i];
    }
    copy = frame;
    rebuild(protocols, p, edits, operations, copy.data(), out);
    check(std::equal(plain.begin(), plain.end(), copy.begin()), "the frame is as apply leaves it");
    const uint64_t whole = headers_then + p.end - p.payload;
    check(out.size() == std::max(headers_then, std::min(whole, most)), "headers all stay, the payload is cut");
    check(std::equal(out.begin() + static_cast<std::ptrdiff_t>(headers_then), out.end(), plain.begin() + p.payload),
          "the payload is the packet's");
    return 0;
}
