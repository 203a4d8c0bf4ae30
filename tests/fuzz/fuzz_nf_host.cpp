/// An NF host as its loops drive it: any frames, in batches, probes, time that jumps, configs, and the bytes that a
/// copy of the process answers with. Each answer is the switch's, of a frame that came, and says so; state is never
/// asked about a frame of others.
///
/// Kinds of steps: 0 to 4 a frame, of one batch with those before it if there is no wait between them; `place` odd: it
/// is addressed to the NF; 5 the answer of a copy; 6 a config: `bytes` are patches to the one there is; 7 statistics.
#include <optional>

#include "described.hpp"
#include "host/fields_nf.hpp"
#include "nf.hpp"
#include "steps.hpp"

using namespace polysome;
using namespace fuzz;

namespace {

constexpr std::array<uint8_t, 6> mac = {2, 0x70, 0x6f, 0x6c, 0x79, 2};

/// The time that the steps say.
struct TimeOfSteps {
    static inline uint64_t time = start;
    uint64_t now() const { return time; }
};

struct Out {
    uint64_t accepted = 0, answered = 0;

    void send(View frame, uint64_t order) {
        check(frame.size() >= Tag::smallest, "an answer is no runt");
        check(Tag::is_ours(frame.data(), frame.size()), "an answer has a tag");
        check(std::equal(mac.begin(), mac.end(), frame.begin() + 6), "an answer is from us");
        if (Tag::flags(frame.data()) != Tag::split)
            check(Tag::length(frame.data()) <= frame.size() - Tag::head, "an answer holds the packet that it says");
        if (order == no_packet) return;
        check(order < accepted, "an answer is to a frame that came");
        ++answered;
    }
};

class Harness {
  public:
    Harness() : host_(out_) { check(host_.configure(config_blob()).empty(), "the NF's own config"); }

    void take(const Step& step) {
        if (step.time() != 0 || step.kind % 8 > 4 || batch_.size() == largest_batch) deliver();
        TimeOfSteps::time += step.time();
        switch (step.kind % 8) {
            case 5:
                return answered(step.bytes);
            case 6:
                return configure(step.bytes);
            case 7:
                static_cast<void>(host_.statistics(0, 0));
                static_cast<void>(host_.idle(1'000'000'000));
                return;
            default:
                return receive(step);
        }
    }
    void end() {
        deliver();
        TimeOfSteps::time += 10'000'000'000;
        host_.advance();
    }

  private:
    void receive(const Step& step) {
        ++count.frames;
        const Exact& frame = batch_.emplace_back(step.bytes);
        if (step.place % 2 != 0)
            std::copy_n(mac.begin(), std::min(mac.size(), frame.bytes().size()), frame.bytes().begin());
    }

    /// As FieldsPacketLoop does.
    void deliver() {
        std::vector<Arrival> arrivals;
        for (const Exact& frame : batch_) {
            const std::span<uint8_t> bytes = frame.bytes();
            const auto size = static_cast<uint32_t>(bytes.size());
            if (!host_.accepts(bytes.data(), size, mac)) continue;
            arrivals.push_back({host_.clock(), bytes.data(), size, Tag::port(bytes.data())});
        }
        out_.accepted += arrivals.size();
        host_.arrive(arrivals);
        host_.advance();
        batch_.clear();
    }

    void configure(View patches) {
        Bytes blob(config_blob().begin(), config_blob().end());
        patch(blob, patches);
        const Exact exact(blob);
        static_cast<void>(host_.configure(exact.bytes()));
    }
    static void answered(View bytes) {
        const Exact exact(bytes);
        host::Outcome outcome;
        if (!host::read_outcome(exact.bytes(), outcome)) return;
        std::vector<uint8_t> again;
        host::write_outcome(outcome, again);
        check(again == Bytes(bytes.begin(), bytes.end()), "what is read is what was written");
    }

    Out out_;
    host::FieldsHost<Nf, Out, TimeOfSteps> host_;
    std::vector<Exact> batch_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    TimeOfSteps::time = start;
    const auto harness = std::make_unique<Harness>();
    for (const Step& step : steps_of({data, size})) harness->take(step);
    harness->end();
    return 0;
}
