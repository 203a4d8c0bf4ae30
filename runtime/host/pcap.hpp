/// Captures in the pcap file format (draft-ietf-opsawg-pcap): read whole into memory, written as packets come.
///
/// Both byte orders, microseconds and nanoseconds; Ethernet (link type 1) only.
#pragma once

#include <algorithm>
#include <cstring>

#include "host/common.hpp"

namespace polysome::host {

/// A frame of a capture: where its bytes are in the file, and its time in ns since 1970.
struct Captured {
    uint64_t time;
    size_t at;
    uint32_t size;
    uint16_t port;
};

/// A capture in memory.
class Capture {
  public:
    /// Throws Failure(3) for what is no pcap file of Ethernet frames. A record that the file's end cuts is left out.
    Capture(const std::string& path, uint16_t port) : bytes_(read_file(path)) {
        if (bytes_.size() < 24) throw Failure(3, path + " is no pcap file: it is too short");
        std::memcpy(&magic_, bytes_.data(), 4);
        const uint32_t plain = swapped() ? __builtin_bswap32(magic_) : magic_;
        if (plain != microseconds && plain != nanoseconds) {
            throw Failure(3, path + " is no pcap file (a pcapng file can be converted: editcap -F nsecpcap)");
        }
        const uint32_t unit = plain == nanoseconds ? 1 : 1000;
        if ((number(20) & 0xffff) != 1) throw Failure(3, path + " does not hold Ethernet frames");
        size_t at = 24;
        while (bytes_.size() - at >= 16) {
            const uint32_t size = number(at + 8);
            if (bytes_.size() - at - 16 < size) break;
            frames.push_back(
                {number(at) * uint64_t{1'000'000'000} + uint64_t{number(at + 4)} * unit, at + 16, size, port});
            at += 16 + size;
        }
    }

    const uint8_t* data(const Captured& frame) const { return bytes_.data() + frame.at; }

    std::vector<Captured> frames;  ///< in the file's order

  private:
    static constexpr uint32_t microseconds = 0xa1b2c3d4;
    static constexpr uint32_t nanoseconds = 0xa1b23c4d;

    bool swapped() const {
        const uint32_t other = __builtin_bswap32(magic_);
        return other == microseconds || other == nanoseconds;
    }
    uint32_t number(size_t at) const {
        uint32_t value;
        std::memcpy(&value, bytes_.data() + at, 4);
        return swapped() ? __builtin_bswap32(value) : value;
    }

    std::vector<uint8_t> bytes_;
    uint32_t magic_;
};

/// All frames of some captures, in the order of L2.5: by time, a capture's own order kept, ties by capture.
struct Merged {
    uint64_t time;  ///< the running maximum of its capture's times
    const uint8_t* data;
    uint32_t size;
    uint16_t port;
};

inline std::vector<Merged> merge(const std::vector<Capture>& captures) {
    std::vector<Merged> all;
    for (const Capture& capture : captures) {
        uint64_t latest = 0;
        for (const Captured& frame : capture.frames) {
            latest = std::max(latest, frame.time);
            all.push_back({latest, capture.data(frame), frame.size, frame.port});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Merged& a, const Merged& b) { return a.time < b.time; });
    return all;
}

/// Writes a capture with nanoseconds, in the machine's byte order.
class CaptureWriter {
  public:
    explicit CaptureWriter(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
        if (file_ == nullptr) throw Failure(3, "cannot write " + path);
        const uint32_t header[6] = {0xa1b23c4d, 4u << 16 | 2u, 0, 0, 262144, 1};
        write(header, sizeof header);
    }
    CaptureWriter(const CaptureWriter&) = delete;
    CaptureWriter& operator=(const CaptureWriter&) = delete;
    ~CaptureWriter() {
        if (file_ != nullptr) std::fclose(file_);
    }

    void packet(uint64_t time, std::span<const uint8_t> bytes) {
        const auto size = static_cast<uint32_t>(bytes.size());
        const uint32_t header[4] = {static_cast<uint32_t>(time / 1'000'000'000),
                                    static_cast<uint32_t>(time % 1'000'000'000), size, size};
        write(header, sizeof header);
        write(bytes.data(), bytes.size());
    }
    /// Throws Failure(3) if anything could not be written.
    void close() {
        const bool bad = failed_ || std::fclose(file_) != 0;
        if (failed_) std::fclose(file_);
        file_ = nullptr;
        if (bad) throw Failure(3, "cannot write all of " + path_);
    }

  private:
    void write(const void* data, size_t size) {
        if (size != 0 && std::fwrite(data, size, 1, file_) != 1) failed_ = true;
    }

    std::string path_;
    std::FILE* file_;
    bool failed_ = false;
};

}  // namespace polysome::host
