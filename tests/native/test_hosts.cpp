// The host programs: captures, command lines, and an NF between two virtual links.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "host/af_packet_main.hpp"
#include "host/pcap_main.hpp"
#include "nf/policy/fifo.hpp"
#include "tiny_nf.hpp"

namespace polysome::host {
namespace {

using Nf = tiny::Nf<Fifo, false>;
using Bytes = std::vector<uint8_t>;

std::string path(const std::string& name) {
    return ::testing::TempDir() + "/polysome_" + std::to_string(getpid()) + name;
}

Bytes frame(char op, uint8_t ports, uint8_t number = 0, size_t size = 60) {
    Bytes bytes(size);
    bytes[0] = static_cast<uint8_t>(op);
    bytes[1] = ports;
    bytes[2] = number;
    return bytes;
}

std::string capture(const std::string& name, const std::vector<std::pair<uint64_t, Bytes>>& packets) {
    CaptureWriter writer(path(name));
    for (const auto& [time, bytes] : packets) writer.packet(time, bytes);
    writer.close();
    return path(name);
}

void write(const std::string& file, const Bytes& bytes) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}

std::vector<std::string> read(const std::string& file) {
    Capture found(file, 0);
    std::vector<std::string> lines;
    for (const Captured& f : found.frames) {
        lines.push_back(std::to_string(f.time) + " " + static_cast<char>(found.data(f)[0]) +
                        std::to_string(found.data(f)[2]) + " " + std::to_string(f.size));
    }
    return lines;
}

/// The exit code of the pcap host.
int pcap(std::vector<std::string> words) {
    words.insert(words.begin(), "host");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return run_host("host", [&] { pcap_host<Nf>(static_cast<int>(argv.size()), argv.data()); });
}

TEST(Pcap, what_is_written_is_read) {
    const std::string file = capture("a.pcap", {{1'700'000'000'123'456'789, frame('s', 1, 7)}, {5, Bytes{}}});
    const Capture found(file, 3);
    ASSERT_EQ(found.frames.size(), 2u);
    EXPECT_EQ(found.frames[0].time, 1'700'000'000'123'456'789u);
    EXPECT_EQ(found.frames[0].size, 60u);
    EXPECT_EQ(found.frames[0].port, 3);
    EXPECT_EQ(found.data(found.frames[0])[2], 7);
    EXPECT_EQ(found.frames[1].size, 0u);
}

TEST(Pcap, both_byte_orders_microseconds_and_a_cut_end) {
    // Big-endian, microseconds; the second record says 9 bytes and has 2.
    Bytes bytes = {0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 1};
    for (const uint8_t size : {2, 9}) {
        const uint8_t record[] = {0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, size, 0, 0, 0, size, 'x', 'y'};
        bytes.insert(bytes.end(), std::begin(record), std::end(record));
    }
    write(path("b.pcap"), bytes);
    const Capture found(path("b.pcap"), 0);
    ASSERT_EQ(found.frames.size(), 1u);
    EXPECT_EQ(found.frames[0].time, 3'000'004'000u);
    EXPECT_EQ(found.data(found.frames[0])[1], 'y');
}

TEST(Pcap, other_files_are_refused) {
    write(path("c.pcap"), Bytes(30));
    EXPECT_THROW(Capture(path("c.pcap"), 0), Failure);
    write(path("c.pcap"), Bytes(3));
    EXPECT_THROW(Capture(path("c.pcap"), 0), Failure);
    EXPECT_THROW(Capture(path("none.pcap"), 0), Failure);
}

TEST(Pcap, L2_5_merge_by_running_maximum_and_command_line) {
    std::vector<Capture> captures;
    captures.emplace_back(capture("d.pcap", {{10, frame('s', 1, 0)}, {30, frame('s', 1, 1)}, {20, frame('s', 1, 2)}}),
                          0);
    captures.emplace_back(capture("e.pcap", {{10, frame('s', 1, 3)}, {25, frame('s', 1, 4)}, {30, frame('s', 1, 5)}}),
                          1);
    std::vector<int> order;
    for (const Merged& m : merge(captures)) order.push_back(m.data[2]);
    EXPECT_EQ(order, (std::vector<int>{0, 3, 4, 1, 2, 5}));
}

TEST(PcapHost, runs_repeats_and_writes) {
    const std::string a =
        capture("f.pcap", {{100, frame('s', 1, 0)}, {200, frame('b', 3, 1)}, {300, frame('d', 1, 2)}});
    const std::string b = capture("g.pcap", {{150, frame('e', 2, 3)}});
    write(path("blob"), {1});
    ASSERT_EQ(pcap({"--in", "a=" + a, "--in", "b=" + b, "--out", path("all"), "--out", "b=" + path("only"), "--config",
                    path("blob"), "--repeat", "2"}),
              0);
    // 200 ns of trace in 4 packets: the second round begins one mean gap after the end.
    const uint64_t period = 200 + 200 / 3;
    std::vector<std::string> all;
    for (const uint64_t t : {uint64_t{0}, period}) {
        const auto at = [&](uint64_t time, const char* rest) { return std::to_string(time + t) + rest; };
        for (const std::string& line : {at(100, " s0 60"), at(200, " !1 60"), at(200, " !1 60")}) all.push_back(line);
    }
    const Capture found(path("all"), 0);
    EXPECT_EQ(found.frames.size(), 10u);
    std::vector<std::string> seen;
    for (const Captured& f : found.frames) {
        if (f.size == 60 && found.data(f)[0] != 'e') {  // all but b's, which also emits
            seen.push_back(std::to_string(f.time) + " " + static_cast<char>(found.data(f)[0]) +
                           std::to_string(found.data(f)[2]) + " 60");
        }
    }
    EXPECT_EQ(seen, all);
    EXPECT_EQ(Capture(path("only"), 0).frames.size(), 6u);  // with what was emitted, 1 byte each
    EXPECT_EQ(pcap({"--in", "a=" + a, "--out", path("all"), "--cores", "3", "--config", path("blob")}), 0);
    EXPECT_EQ(read(path("all")), (std::vector<std::string>{"100 s0 60", "200 !1 60", "200 !1 60"}));
}

TEST(PcapHost, exit_codes) {
    const std::string a = capture("h.pcap", {{100, frame('s', 1)}});
    EXPECT_EQ(pcap({}), 2);
    EXPECT_EQ(pcap({"--in"}), 2);
    EXPECT_EQ(pcap({"--in", "x=" + a}), 2);
    EXPECT_EQ(pcap({"--in", a}), 2);
    EXPECT_EQ(pcap({"--in", "a=" + a, "--repeat", "0"}), 2);
    EXPECT_EQ(pcap({"--in", "a=" + a, "--fast", "1"}), 2);
    EXPECT_EQ(pcap({"--in", "a=" + path("none")}), 3);
    EXPECT_EQ(pcap({"--in", "a=" + a}), 3);  // the config is malformed
    write(path("blob"), {1});
    EXPECT_EQ(pcap({"--in", "a=" + a, "--config", path("blob"), "--out", path("no/such/folder")}), 3);
}

TEST(PcapHost, stops_when_asked) {
    const std::string a = capture("i.pcap", {{100, frame('s', 1)}});
    write(path("blob"), {1});
    std::thread later([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        kill(getpid(), SIGTERM);
    });
    EXPECT_EQ(pcap({"--in", "a=" + a, "--config", path("blob"), "--repeat", "1000000000000"}), 0);
    later.join();
    stop_asked = false;
}

/// Two virtual links; the NF at their near ends 0, the test at their far ends 1.
class Links : public ::testing::Test {
  protected:
    void SetUp() override {
        made_ = true;
        for (const std::string link : {"a", "b"}) {
            made_ = made_ && shell("link add " + name(link, 0) + " type veth peer name " + name(link, 1));
            for (const int end : {0, 1}) {
                made_ = made_ && shell("link set " + name(link, end) + " addrgenmode none up");
            }
        }
        if (!made_) GTEST_SKIP() << "cannot make virtual links here (needs `ip` and CAP_NET_ADMIN)";
    }
    void TearDown() override {
        for (const std::string link : {"a", "b"}) shell("link del " + name(link, 0));
        stop_asked = false;
    }
    static std::string name(const std::string& link, int end) {
        return "ps" + link + std::to_string(getpid() % 100000) + "_" + std::to_string(end);
    }
    static bool shell(const std::string& command) {
        return std::system(("ip " + command + " > /dev/null 2>&1").c_str()) == 0;
    }
    bool made_ = false;
};

/// All that comes within some time, but at least `least` frames if they come within 5 s.
std::vector<Bytes> receive(Interface& from, size_t least) {
    std::vector<Bytes> found;
    std::array<Arrival, Interface::batch> arrivals;
    for (int i = 0; i < 500 && (found.size() < least || i < 10); ++i) {
        const size_t n = from.receive(0, 0, arrivals.data());
        for (size_t k = 0; k < n; ++k) found.emplace_back(arrivals[k].data, arrivals[k].data + arrivals[k].size);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return found;
}

TEST_F(Links, frames_cross_the_nf_and_its_config_is_replaced) {
    Interface left(name("a", 1)), right(name("b", 1));
    write(path("blob"), {1});
    const std::string a = "a=" + name("a", 0), b = "b=" + name("b", 0), blob = path("blob");
    std::array<std::string, 7> words = {"host", "--port", a, "--port", b, "--config", blob};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    PacketHost<Nf> host(PacketOptions<Nf>(static_cast<int>(argv.size()), argv.data()));
    std::thread thread([&] { host.run(); });

    Bytes tagged = frame('b', 2, 9, 1500);
    tagged[12] = 0x81;
    tagged[13] = 0x00;
    tagged[15] = 42;
    std::vector<Bytes> sent;
    for (uint8_t i = 0; i < 40; ++i) sent.push_back(frame('s', 2, i));
    sent.push_back(tagged);
    for (const Bytes& bytes : sent) left.send(bytes);
    left.flush();
    const std::vector<Bytes> found = receive(right, sent.size());
    sent.back()[0] = '!';  // what the NF makes of a `b`; the tag is still there
    EXPECT_EQ(found, sent);

    write(path("blob"), {0});
    kill(getpid(), SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    left.send(sent.front());
    left.flush();
    EXPECT_TRUE(receive(right, 0).empty());  // the NF drops everything now
    write(path("blob"), {1, 2});             // malformed: it stays so
    kill(getpid(), SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    left.send(sent.front());
    left.flush();
    EXPECT_TRUE(receive(right, 0).empty());
    kill(getpid(), SIGINT);
    thread.join();
}

TEST(PacketHostOptions, mistakes) {
    const auto code = [](std::vector<std::string> words) {
        words.insert(words.begin(), "host");
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        return run_host("host", [&] { af_packet_host<Nf>(static_cast<int>(argv.size()), argv.data()); });
    };
    write(path("blob"), {1});
    EXPECT_EQ(code({}), 2);
    EXPECT_EQ(code({"--port", "lo"}), 2);
    EXPECT_EQ(code({"--port", "x=lo"}), 2);
    EXPECT_EQ(code({"--port", "a=lo"}), 3);  // the config is malformed
    EXPECT_EQ(code({"--config", path("blob"), "--port", "a=no_such_link"}), 3);
}

}  // namespace
}  // namespace polysome::host
