// Written by `make protocol` from polysome_protocol/protocol.toml: change that, not this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/field.hpp"

namespace polysome::protocol {

namespace frames {
inline constexpr uint16_t ether_type = 0x88b5;
inline constexpr uint8_t version = 1;
inline constexpr uint8_t smallest = 60;
}  // namespace frames

namespace flags {
inline constexpr uint8_t split = 0;
inline constexpr uint8_t whole = 1;
inline constexpr uint8_t own = 2;
}  // namespace flags

namespace verdicts {
inline constexpr uint8_t ports = 15;
inline constexpr uint16_t set = 0x8000;
inline constexpr uint16_t proof = 0x4000;
inline constexpr uint8_t proof_bits = 2;
inline constexpr uint8_t controller = 255;
}  // namespace verdicts

enum class PortRole : uint8_t {
    plain = 0,
    traffic = 1,
    nf = 2,
    server = 3,
    recirculation = 4,
    generator = 5,
    controller = 6,
};

namespace clock {
inline constexpr uint8_t low_bits = 16;
inline constexpr uint8_t bits = 30;
}  // namespace clock

namespace requests {
inline constexpr uint8_t ack_every = 32;
inline constexpr uint8_t most_pad = 7;
inline constexpr uint8_t icrc = 4;
}  // namespace requests

namespace queues {
inline constexpr uint8_t all = 0;
inline constexpr uint8_t first = 7;
}  // namespace queues

namespace roce {
inline constexpr uint16_t port = 0x12b7;
inline constexpr uint16_t source_port = 0xc000;
inline constexpr uint16_t fragment = 0x4000;
inline constexpr uint8_t ttl = 64;
inline constexpr uint8_t flags = 64;
inline constexpr uint16_t partition = 0xffff;
inline constexpr uint8_t ack_request = 128;
}  // namespace roce

namespace opcodes {
inline constexpr uint8_t write = 10;
inline constexpr uint8_t read = 12;
inline constexpr uint8_t response = 16;
inline constexpr uint8_t acknowledge = 17;
}  // namespace opcodes

namespace syndromes {
inline constexpr uint8_t kind = 224;
inline constexpr uint8_t ack = 0;
inline constexpr uint8_t nak = 96;
inline constexpr uint8_t sequence_nak = 96;
}  // namespace syndromes

namespace hashes {
inline constexpr const char* bucket = "CRC32";
inline constexpr const char* text = "sha256";
}  // namespace hashes

namespace crc32 {
inline constexpr uint32_t polynomial = 0x4c11db7;
inline constexpr uint32_t start = 0xffffffff;
inline constexpr uint32_t final = 0xffffffff;
}  // namespace crc32

struct Ethernet {
    static constexpr size_t size = 14;
    using dst = Field<0, 48>;
    using src = Field<48, 48>;
    using ether_type = Field<96, 16>;
};

struct Tag {
    static constexpr size_t size = 12;
    using version = Field<0, 4>;
    using flags = Field<4, 4>;
    using parse_class = Field<8, 8>;
    using seq = Field<16, 32, 2>;
    using queue_pair = Field<48, 16>;
    using length = Field<64, 16>;
    using port = Field<80, 16>;
};

struct Bridge {
    static constexpr size_t size = 13;
    using copy = Field<0, 8>;
    using way = Field<8, 8>;
    using queue_pair = Field<16, 16>;
    using seq = Field<32, 32>;
    using length = Field<64, 16>;
    using port = Field<80, 8>;
    using parse_class = Field<88, 8>;
    using mark = Field<96, 8>;
};

struct Retry {
    static constexpr size_t size = 2;
    using what = Field<0, 8>;
    using tries = Field<8, 8>;
};

struct PortMetadata {
    static constexpr size_t size = 8;
    using role = Field<0, 8>;
    using index = Field<8, 8>;
    using unused = Field<16, 16>;
    using unused2 = Field<32, 32>;
};

struct Generator {
    static constexpr size_t size = 6;
    using application = Field<0, 8>;
    using unused = Field<8, 8>;
    using batch = Field<16, 16>;
    using packet = Field<32, 16>;
};

struct Ipv4 {
    static constexpr size_t size = 20;
    using version_ihl = Field<0, 8>;
    using tos = Field<8, 8>;
    using total_length = Field<16, 16>;
    using identification = Field<32, 16>;
    using fragment = Field<48, 16>;
    using ttl = Field<64, 8>;
    using protocol = Field<72, 8>;
    using checksum = Field<80, 16>;
    using src = Field<96, 32>;
    using dst = Field<128, 32>;
};

struct Udp {
    static constexpr size_t size = 8;
    using sport = Field<0, 16>;
    using dport = Field<16, 16>;
    using length = Field<32, 16>;
    using checksum = Field<48, 16>;
};

struct Bth {
    static constexpr size_t size = 12;
    using opcode = Field<0, 8>;
    using flags = Field<8, 8>;
    using partition = Field<16, 16>;
    using reserved = Field<32, 8>;
    using queue_pair = Field<40, 24>;
    using ack_request = Field<64, 8>;
    using psn = Field<72, 24>;
};

struct Reth {
    static constexpr size_t size = 16;
    using address_high = Field<0, 32>;
    using address = Field<32, 32>;
    using key = Field<64, 32>;
    using length_high = Field<96, 16>;
    using length = Field<112, 16>;
};

struct Aeth {
    static constexpr size_t size = 4;
    using syndrome = Field<0, 8>;
    using msn = Field<8, 24>;
};

}  // namespace polysome::protocol
