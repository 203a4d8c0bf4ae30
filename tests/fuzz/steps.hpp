/// What the fuzzers of whole parts make of their bytes: steps, one after the other, each with a kind, a place, a time
/// to wait before it, and bytes, mostly a frame. What kinds and places are is the target's business.
///
/// A step on the wire: kind, place, wait, two bytes with the size of what follows, big-endian, and that. Bytes that are
/// no whole step are one that is cut. seeds.py writes the same.
///
/// Changes know of steps, and of frames: after one, checksum and ICRC may be made right again, so that what is behind
/// these checks is reached too.
#pragma once

#include <algorithm>
#include <memory>
#include <random>

#include "rdma/roce.hpp"
#include "report.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace fuzz {

struct Step {
    uint8_t kind = 0, place = 0, wait = 0;
    Bytes bytes;

    /// 0, or 1 ns to some minutes.
    uint64_t time() const { return uint64_t{wait & 7u} << (wait >> 3) * 6 / 5; }
};

inline std::vector<Step> steps_of(View data) {
    constexpr size_t head = 5;
    std::vector<Step> steps;
    while (data.size() >= head) {
        const size_t size = std::min<size_t>(polysome::load<uint16_t>(data.data() + 3), data.size() - head);
        const View bytes = data.subspan(head, size);
        steps.push_back({data[0], data[1], data[2], {bytes.begin(), bytes.end()}});
        data = data.subspan(head + size);
    }
    return steps;
}

/// Bytes at a place of their own that ends where they do, so that the sanitizer sees every byte beyond.
class Exact {
  public:
    explicit Exact(View bytes) : size_(bytes.size()), bytes_(new uint8_t[bytes.size()]) {
        std::copy(bytes.begin(), bytes.end(), bytes_.get());
    }
    std::span<uint8_t> bytes() const { return {bytes_.get(), size_}; }

  private:
    size_t size_;
    std::unique_ptr<uint8_t[]> bytes_;
};

/// Changes bytes of a frame where `patches` says, three bytes each: where, and what to turn over there.
inline void patch(Bytes& frame, View patches) {
    for (; patches.size() >= 3 && !frame.empty(); patches = patches.subspan(3))
        frame[polysome::load<uint16_t>(patches.data()) % frame.size()] ^= patches[2];
}

/// Makes IPv4's checksum right, and the ICRC of what is RoCE then.
inline void repair(Bytes& frame) {
    using namespace polysome;
    constexpr size_t ip = rdma::ETHERNET_SIZE, sum = ip + 10;
    if (frame.size() < ip + rdma::IPV4_SIZE || load<uint16_t>(frame.data() + 12) != 0x0800) return;
    store(frame.data() + sum, uint16_t{0});
    store(frame.data() + sum, checksum({frame.data() + ip, rdma::IPV4_SIZE}));
    rdma::Frame parsed;
    if (rdma::parse(frame, parsed) == rdma::Flaw::none) rdma::seal(rdma::datagram(std::span(frame)));
}

/// Changes to an input.
class Mutator {
  public:
    Mutator(View data, unsigned seed) : random_(seed), steps_(steps_of(data)) {}

    void change() {
        if (steps_.empty()) steps_.push_back({byte(), byte(), byte(), {}});
        Step& step = some();
        switch (below(12)) {
            case 0:
                step.kind = byte();
                break;
            case 1:
                step.place = byte();
                break;
            case 2:
                step.wait = byte();
                break;
            case 3:
                return insert(Step(step));
            case 4:
                if (steps_.size() > 1) steps_.erase(steps_.begin() + (&step - steps_.data()));
                return;
            case 5:
                return std::swap(step, some());
            case 6:
                step.bytes.resize(below(step.bytes.size() + 8));
                break;
            case 7:
                splice(step.bytes, some().bytes);
                break;
            case 8:
            case 9:
                number(step.bytes);
                break;
            default:
                freely(step.bytes);
        }
        if (below(2) == 0) repair(step.bytes);
    }

    /// A step of another input comes in.
    void cross(View other) {
        const std::vector<Step> others = steps_of(other);
        if (others.empty()) return;
        const size_t first = below(others.size()), count = 1 + below(std::min<size_t>(others.size() - first, 6));
        for (size_t i = first; i < first + count; ++i) insert(others[i]);
    }

    size_t write(uint8_t* out, size_t most) const {
        size_t at = 0;
        for (const Step& step : steps_) {
            if (at + 5 + step.bytes.size() > most || step.bytes.size() > 0xffff) break;
            const uint8_t head[5] = {step.kind, step.place, step.wait, static_cast<uint8_t>(step.bytes.size() >> 8),
                                     static_cast<uint8_t>(step.bytes.size())};
            std::copy_n(head, 5, out + at);
            std::copy(step.bytes.begin(), step.bytes.end(), out + at + 5);
            at += 5 + step.bytes.size();
        }
        return at;
    }

  private:
    size_t below(size_t bound) { return random_() % bound; }
    uint8_t byte() { return static_cast<uint8_t>(below(256)); }
    Step& some() { return steps_[below(steps_.size())]; }
    void insert(Step step) {
        steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(below(steps_.size() + 1)), std::move(step));
    }

    /// Where headers are, a number at the edge of what it may be.
    void number(Bytes& bytes) {
        constexpr uint32_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0xffffffff};
        if (bytes.empty()) return;
        const size_t at = below(std::min<size_t>(bytes.size(), 80)), width = size_t{1} << below(3);
        uint32_t value = edges[below(std::size(edges))];
        if (below(3) == 0) value = static_cast<uint32_t>(bytes.size() - at + below(9) - 4);  // a length, or nearly
        for (size_t i = 0; i < width && at + i < bytes.size(); ++i)
            bytes[at + i] = static_cast<uint8_t>(value >> 8 * (width - 1 - i));
    }
    void splice(Bytes& into, const Bytes& from) {
        if (into.empty() || from.empty()) return;
        const size_t at = below(std::min(into.size(), from.size()));
        const size_t count = std::min({1 + below(32), into.size() - at, from.size() - at});
        const Bytes copy(from.begin() + static_cast<std::ptrdiff_t>(at), from.end());  // which may be `into`
        std::copy_n(copy.begin(), count, into.begin() + static_cast<std::ptrdiff_t>(at));
    }
    void freely(Bytes& bytes) {
        const size_t size = bytes.size();
        bytes.resize(size + 32);
        bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
    }

    std::minstd_rand random_;
    std::vector<Step> steps_;
};

}  // namespace fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    fuzz::Mutator mutator({data, size}, seed);
    for (unsigned changes = 1 + seed % 4; changes > 0; --changes) mutator.change();
    return mutator.write(data, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other, size_t other_size,
                                            uint8_t* out, size_t most, unsigned seed) {
    fuzz::Mutator mutator({data, size}, seed);
    mutator.cross({other, other_size});
    return mutator.write(out, most);
}
