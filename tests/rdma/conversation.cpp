/// Writes a capture of a conversation with a responder that holds every kind of frame: argv[1] is its path.
/// test_dissection.py says what must be in it.
#include "host/pcap.hpp"
#include "requester.hpp"

using namespace requester;

namespace {

class Conversation {
  public:
    explicit Conversation(const std::string& path) : file_(path), bench_(small_config(), 0xfffffe) {}

    /// A request and its answers, each a microsecond after the other.
    void say(const Bytes& bytes) {
        record(bytes);
        for (const Seen& seen : bench_.send(bytes)) record(seen.bytes);
    }
    void record(const Bytes& bytes) { file_.packet(time_ += 1000, bytes); }
    /// Another queue pair in the place of the one that an error ended.
    void renew() { bench_.nic.reset(0, ++qpn_, 0); }
    void fail() { bench_.nic.fail(0); }
    Bytes renewed(Frame frame) const {
        frame.bth.qpn = qpn_;
        return built(frame);
    }
    void close() { file_.close(); }

  private:
    host::CaptureWriter file_;
    Bench bench_;
    uint64_t time_ = 0;
    uint32_t qpn_ = QPN;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    Conversation talk(arguments[1]);
    const Bytes full = pattern(256);
    talk.say(write_only(0xfffffe, pattern(5), 0x400));
    talk.say(write_request(Opcode::write_first, 0xffffff, full, 0x1000, 600, false));
    talk.say(write_request(Opcode::write_middle, 0, full, 0, 0, false));
    talk.say(write_request(Opcode::write_last, 1, pattern(88)));
    talk.say(read_request(2, 0x400, 5));
    talk.say(read_request(3, 0x1000, 600));
    talk.say(read_request(6, 0, 0));
    talk.say(write_only(9, pattern(4)));
    talk.say(write_only(0xfffffe, pattern(5), 0x400));
    talk.say(read_request(7, 0, 4, 0xbad));
    talk.renew();
    Frame message = request(Opcode::send_only, 0);
    const Bytes words = pattern(16);
    message.payload = words;
    talk.say(talk.renewed(message));
    talk.renew();
    talk.fail();
    talk.say(talk.renewed(request(Opcode::write_only, 0)));
    // What this responder never says, but others do: it has no receives that could be lacking.
    Frame not_ready = request(Opcode::acknowledge, 8, false);
    not_ready.aeth = {syndrome(Answer::receiver_not_ready, 12), 6};
    talk.record(built(not_ready));
    talk.close();
    return 0;
}
