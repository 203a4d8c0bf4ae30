/// What fuzzers make of their bytes: packets of tiny_protocols.hpp's headers, in any order, whole and cut.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "tiny_frames.hpp"

namespace tiny {

/// Ends the process with a report, unless `holds`.
inline void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// Numbers from the fuzzer's bytes; zeros when they are used up.
class Input {
  public:
    Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}

    uint8_t byte() { return left_ == 0 ? 0 : (--left_, *data_++); }
    /// Less than `bound`, which is 1 to 256.
    uint32_t below(uint32_t bound) { return byte() % bound; }
    u128 bits(uint32_t width) {
        u128 value = 0;
        for (uint32_t i = 0; i < width; i += 8) value = value << 8 | byte();
        return value & low_bits(width);
    }
    Bytes bytes(size_t most) {
        const size_t size = most < left_ ? most : left_;
        Bytes bytes(data_, data_ + size);
        data_ += size;
        left_ -= size;
        return bytes;
    }

    /// A parsed packet: `frame` is given its bytes. Only quotes are cut, and only the last header is.
    Placed packet(Bytes& frame) {
        const uint32_t headers = below(instances + 1);
        uint8_t chosen[instances];
        for (uint32_t i = 0; i < headers; ++i) chosen[i] = static_cast<uint8_t>(below(instances));
        const uint8_t longer = byte(), narrow = byte();
        frame = bytes(200);
        Placed p;
        p.begin(frame.data(), static_cast<uint32_t>(frame.size()), 0);
        for (uint32_t n = 0; n < headers; ++n) {
            const uint8_t i = chosen[n];
            if (!p.has(i) && !place(p, i, longer >> n % 8 & 1, narrow >> n % 8 & 1)) break;
        }
        p.payload = p.pos;
        return p;
    }

    std::vector<FieldEdit> edits(const Placed& p) {
        std::vector<FieldEdit> edits;
        const uint8_t which = byte();
        for (uint8_t n = 0; n < p.depth; ++n) {
            const uint8_t i = p.path[n];
            const HeaderShape& header = protocols.headers[protocols.instances[i].header];
            for (uint16_t f = 0; f < header.fields.size(); ++f) {
                const FieldShape& field = header.fields[f];
                if (field.checksum != nullptr || field.length != nullptr || field.next >= 0) continue;
                if (((which ^ n * 3u) >> f % 8 & 1) != 0) edits.push_back({i, f, bits(field.width)});
            }
        }
        return edits;
    }

    std::vector<Given> given(const HeaderShape& header) {
        std::vector<Given> given;
        for (uint16_t f = 0; f < header.fields.size(); ++f) {
            if (below(2) != 0) given.push_back({f, bits(header.fields[f].width)});
        }
        return given;
    }

    /// Pops of headers of the path, pushes before them, truncations.
    Operations operations(const Placed& p) {
        Operations operations(below(6));
        for (Operation& operation : operations) {
            const uint32_t kind = below(3);
            if (kind == 0 && p.depth > 0) {
                const uint32_t first = below(p.depth), last = first + below(p.depth - first);
                operation = {.kind = Operation::Kind::pop, .first = p.path[first], .last = p.path[last], .given = {}};
            } else if (kind == 1) {
                operation = {.kind = Operation::Kind::truncate, .size = byte(), .given = {}};
            } else {
                operation.header = static_cast<uint16_t>(below(static_cast<uint32_t>(protocols.headers.size())));
                const uint32_t place = below(p.depth + 1u);
                operation.before = place == p.depth ? int16_t{-1} : int16_t{p.path[place]};
                operation.given = given(protocols.headers[operation.header]);
            }
        }
        return operations;
    }

  private:
    static bool place(Placed& p, uint8_t i, bool longer, bool narrow) {
        const uint32_t fixed = protocols.headers[protocols.instances[i].header].fixed, have = p.room - p.pos;
        if (have < fixed) {
            if (protocols.instances[i].quote) p.take_cut(i);
            return false;
        }
        p.take(i, longer && have > fixed + 4 ? fixed + 3 : fixed);
        if (narrow) p.narrow(p.pos + (p.room - p.pos) / 2);
        p.limit[i] = p.room;
        return true;
    }

    const uint8_t* data_;
    size_t left_;
};

}  // namespace tiny
