/// `apply`, `rebuild` and `make` of one program's headers as C functions, for test_apply_vectors.py to compare with the
/// interpreter. `protocols.hpp` is generated: `polysome::tested::protocols`.
#include <algorithm>
#include <cstring>
#include <vector>

#include "nf/apply.hpp"
#include "nf/emit.hpp"
#include "nf/rebuild.hpp"
#include "protocols.hpp"

namespace {

using namespace polysome;
using tested::protocols;

/// A request: numbers big-endian, values of fields 16 bytes long.
class Request {
  public:
    explicit Request(const uint8_t* p) : p_(p) {}

    template <class T>
    T take() {
        const T value = load<T>(p_);
        p_ += sizeof(T);
        return value;
    }
    std::vector<uint8_t> bytes() {
        const uint32_t size = take<uint32_t>();
        p_ += size;
        return {p_ - size, p_};
    }
    std::vector<FieldEdit> edits() {
        std::vector<FieldEdit> edits(take<uint16_t>());
        for (FieldEdit& edit : edits) {
            edit.instance = take<uint16_t>();
            edit.field = take<uint16_t>();
            edit.value = take<u128>();
        }
        return edits;
    }
    Operations operations() {
        Operations operations(take<uint16_t>());
        for (Operation& operation : operations) {
            operation.kind = static_cast<Operation::Kind>(take<uint8_t>());
            operation.header = take<uint16_t>();
            operation.before = static_cast<int16_t>(take<uint16_t>());
            operation.first = take<uint16_t>();
            operation.last = take<uint16_t>();
            operation.size = take<uint64_t>();
            operation.given.resize(take<uint16_t>());
            for (Given& given : operation.given) {
                given.field = take<uint16_t>();
                given.value = take<u128>();
            }
        }
        return operations;
    }
    template <size_t N>
    void places(Parsed<N>& parsed) {
        parsed.end = take<uint32_t>();
        parsed.payload = take<uint32_t>();
        parsed.depth = take<uint8_t>();
        for (uint8_t at = 0; at < parsed.depth; ++at) {
            const uint8_t i = parsed.path[at] = take<uint8_t>();
            parsed.valid |= typename Parsed<N>::Mask{1} << i;
            parsed.offset[i] = take<uint32_t>();
            parsed.header_end[i] = take<uint32_t>();
            parsed.limit[i] = take<uint32_t>();
        }
    }

  private:
    const uint8_t* p_;
};

uint32_t answer(const uint8_t* data, size_t size, uint8_t* out) {
    std::copy_n(data, size, out);
    return static_cast<uint32_t>(size);
}

}  // namespace

/// Applies edits and operations; the packet's bytes go to `out`, which has room; their number.
extern "C" uint32_t tested_apply(const uint8_t* request, uint8_t* out) {
    Request r(request);
    std::vector<uint8_t> frame = r.bytes(), scratch;
    Parsed<protocols.instances.size()> parsed;
    parsed.begin(frame.data(), static_cast<uint32_t>(frame.size()), 0);
    r.places(parsed);
    const std::vector<FieldEdit> edits = r.edits();
    const Operations operations = r.operations();
    if (operations.empty()) return answer(frame.data(), apply(protocols, parsed, edits, frame.data()), out);
    rebuild(protocols, parsed, edits, operations, frame.data(), scratch);
    return answer(scratch.data(), scratch.size(), out);
}

/// Makes a packet that `emit` sends.
extern "C" uint32_t tested_make(const uint8_t* request, uint8_t* out) {
    Request r(request);
    const Operations headers = r.operations();
    std::vector<uint8_t> made;
    make(protocols, headers, r.bytes(), made);
    return answer(made.data(), made.size(), out);
}

/// The `length(...)` of a header's field.
extern "C" uint64_t tested_length(uint16_t header, uint16_t field, uint64_t bytes, uint64_t rest) {
    return protocols.headers[header].fields[field].length(bytes, rest);
}
