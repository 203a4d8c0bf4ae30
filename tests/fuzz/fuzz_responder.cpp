/// Any frames at any times: nothing is read or written out of bounds, every answer is a good frame, counters add up.

#include <memory>

#include "report.hpp"
#include "requester.hpp"

using namespace requester;
using fuzz::check;

namespace {

/// Numbers from the fuzzer's bytes; zeros when they are used up.
class Input {
  public:
    Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}

    bool empty() const { return left_ == 0; }
    uint8_t byte() { return left_ == 0 ? uint8_t{0} : (--left_, *data_++); }
    uint32_t word() { return static_cast<uint32_t>(byte()) << 8 | byte(); }
    Bytes bytes(size_t most) {
        const size_t size = most < left_ ? most : left_;
        Bytes bytes(data_, data_ + size);
        data_ += size;
        left_ -= size;
        return bytes;
    }

  private:
    const uint8_t* data_;
    size_t left_;
};

/// Mostly a WRITE or READ near what is expected, else any opcode; a payload of its length, or near.
Bytes some_request(Input& input, const QueuePair& qp) {
    constexpr Opcode usual[] = {Opcode::write_only, Opcode::write_first, Opcode::write_middle, Opcode::write_last,
                                Opcode::read_request};
    const uint8_t choice = input.byte(), odd = input.byte();
    Frame frame = request(choice < 200 ? usual[choice % 5] : static_cast<Opcode>(input.byte()), 0, (odd & 1) != 0);
    frame.bth.qpn = qp.qpn;
    frame.bth.psn = (qp.expected_psn + (odd % 5 == 0 ? input.byte() - 128u : 0)) & PSN_MASK;
    const uint32_t size = input.word() % 600;
    frame.reth = {input.word() % 2100u, odd % 16 == 2 ? RKEY + 1 : RKEY, odd % 8 == 4 ? input.word() * 65537u : size};
    const bool full = frame.bth.opcode == Opcode::write_first || frame.bth.opcode == Opcode::write_middle;
    const Bytes payload(frame.bth.opcode == Opcode::read_request ? 0 : full ? 256 : size, input.byte());
    frame.payload = payload;
    return built(frame);
}

/// Bytes that are a frame, nearly one, or none at all.
Bytes some_frame(Input& input, const QueuePair& qp) {
    const uint8_t kind = input.byte();
    if (kind < 16) return input.bytes(80);
    Bytes bytes = some_request(input, qp);
    for (uint32_t changes = kind % 4 == 0 ? kind / 32u : 0; changes > 0; --changes) {
        bytes[input.word() % bytes.size()] = input.byte();
    }
    Frame frame;
    if (kind % 8 == 0 && parse(bytes, frame) == Flaw::none) seal(datagram(std::span(bytes)));
    if (kind % 32 == 4) bytes.resize(input.word() % bytes.size());
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    Config config = small_config();
    config.region_size = 2000;
    config.read_time = input.byte() % 4 * 100u;
    Responder nic(config);
    nic.add(QPN, PEER, 0xfffffa);
    uint64_t now = 0, sent = 0;
    const auto emit = [&](std::span<const uint8_t> bytes) {
        Frame frame;
        check(parse(bytes, frame) == Flaw::none && icrc_holds(datagram(bytes)), "an answer is a good frame");
        check(is_response(frame.bth.opcode) && frame.bth.qpn == PEER_QPN, "an answer goes to the peer");
        ++sent;
    };
    while (!input.empty()) {
        const Bytes bytes = some_frame(input, nic.pair(0));
        // Exactly as large as the frame, so that the sanitizer sees every byte beyond.
        const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
        std::copy(bytes.begin(), bytes.end(), exact.get());
        now += input.byte();
        ++fuzz::count.frames;
        nic.receive({exact.get(), bytes.size()}, now, emit);
        check(nic.pair(0).reads <= config.max_reads, "no more READs than may wait");
        check(nic.next() > now, "what is due has left");
        if (nic.pair(0).state != State::ready) nic.reset(0, nic.pair(0).qpn % 1000 + 2 + input.byte() % 3, 0xfffff0);
    }
    nic.advance(NEVER, emit);
    const Counters& c = nic.counters();
    check(c.received == c.requests + c.repeated + c.refused + c.dropped(), "every frame received is counted once");
    check(c.sent == sent, "every frame sent is counted");
    return 0;
}
