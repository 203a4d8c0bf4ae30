/// Plays a file of packets to a rival, and writes what leaves to the standard output: for test_rivals.py.
///
///     play_NAME equal|approximate FLOWS ROWS FILE
///
/// The file: per packet u64 time (ns), u16 port, u16 size, the bytes; in order of time. Packets of one time are played
/// together, at most PLAYED. What leaves: per packet u32 its number from 0, u16 port, u16 size, the bytes; one that was
/// made has the number MADE and in front of its bytes the u64 time. Numbers are little-endian.
#include <cstring>
#include <string>
#include <vector>

#include RIVAL
#include "column.hpp"
#include "files.hpp"

namespace polysome::bench {
namespace {

constexpr size_t PLAYED = 32;
constexpr uint32_t MADE = 0xffffffff;

template <class T>
void write(const T& value) {
    std::fwrite(&value, sizeof value, 1, stdout);
}

void write_made(void*, uint64_t time, std::span<const uint8_t> bytes) {
    write(MADE);
    write(uint16_t{0});
    write(static_cast<uint16_t>(bytes.size()));
    write(time);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

/// Plays one batch; `number` is that of its first packet.
void play_batch(Column& column, std::vector<std::vector<uint8_t>>& frames, std::vector<Packet>& packets, uint64_t time,
                uint32_t number) {
    for (size_t i = 0; i < packets.size(); ++i) packets[i].data = frames[i].data();
    column.batch(packets, time);
    for (const Packet& p : packets) {
        if (p.out != DROP) {
            write(number);
            write(uint16_t{p.out});
            write(p.size);
            std::fwrite(p.data, 1, p.size, stdout);
        }
        ++number;
    }
    frames.clear();
    packets.clear();
}

void play(Column& column, const std::string& file) {
    column.emit_to(write_made, nullptr);
    std::vector<std::vector<uint8_t>> frames;
    std::vector<Packet> packets;
    uint64_t time = 0;
    uint32_t number = 0;  // of the first packet in `packets`
    for (size_t at = 0; at < file.size();) {
        uint64_t when;
        uint16_t port, size;
        std::memcpy(&when, &file[at], 8);
        std::memcpy(&port, &file[at + 8], 2);
        std::memcpy(&size, &file[at + 10], 2);
        if (!packets.empty() && (when != time || packets.size() == PLAYED)) {
            const auto count = static_cast<uint32_t>(packets.size());
            play_batch(column, frames, packets, time, number);
            number += count;
        }
        time = when;
        std::vector<uint8_t> bytes(file.begin() + static_cast<ptrdiff_t>(at + 12),
                                   file.begin() + static_cast<ptrdiff_t>(at + 12 + size));
        bytes.resize(std::max<size_t>(bytes.size(), FRAME));  // a parser may look at as much
        frames.push_back(std::move(bytes));
        packets.push_back({nullptr, size, static_cast<uint8_t>(port), DROP});
        at += 12 + size;
    }
    play_batch(column, frames, packets, time, number);
}

template <class Semantics>
void play(const Setup& setup, const std::string& file) {
    RivalColumn<NF_NAME::Rival<Semantics>> column(setup);
    play(column, file);
}

}  // namespace
}  // namespace polysome::bench

int main(int count, char** arguments) {
    using namespace polysome::bench;
    if (count != 5) return 2;
    const Setup setup{std::stoull(arguments[2]), rows(contents(arguments[3]))};
    const std::string file = contents(arguments[4]);
    arguments[1] == std::string("equal") ? play<Equal>(setup, file) : play<Approximate>(setup, file);
}
