// The kernel's own interpreter runs the filter: of a socket that any user may have.
#include <gtest/gtest.h>
#include <unistd.h>

#include "rdma/agent/filter.hpp"

using namespace polysome;
using namespace polysome::agent;

namespace {

constexpr uint32_t OURS = 0xc613ff10;
using Bytes = std::vector<uint8_t>;

/// A pair of sockets, the second with the filter.
class Filtered {
  public:
    Filtered() {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends_), 0);
        attach_filter(ends_[1], roce_filter(OURS));
    }
    ~Filtered() {
        close(ends_[0]);
        close(ends_[1]);
    }
    bool takes(const Bytes& frame) const {
        EXPECT_EQ(::send(ends_[0], frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
        Bytes got(2048);
        return ::recv(ends_[1], got.data(), got.size(), 0) == static_cast<ssize_t>(frame.size());
    }

  private:
    int ends_[2];
};

Bytes frame() {
    rdma::Frame made;
    made.destination_ip = OURS;
    made.source_ip = 0xc613fffe;
    made.bth.opcode = rdma::Opcode::read_request;
    Bytes bytes(rdma::frame_size(made));
    rdma::build(made, bytes);
    return bytes;
}

Bytes changed(size_t at, uint8_t value) {
    Bytes bytes = frame();
    bytes[at] = value;
    return bytes;
}

TEST(Filter, RoceToUs) { EXPECT_TRUE(Filtered().takes(frame())); }

TEST(Filter, NothingElse) {
    const Filtered socket;
    EXPECT_FALSE(socket.takes(changed(12, 0x86))) << "EtherType";
    EXPECT_FALSE(socket.takes(changed(13, 0x06))) << "EtherType";
    EXPECT_FALSE(socket.takes(changed(23, 6))) << "protocol";
    EXPECT_FALSE(socket.takes(changed(33, 0x11))) << "address";
    EXPECT_FALSE(socket.takes(changed(30, 0xc7))) << "address";
    EXPECT_FALSE(socket.takes(changed(37, 0xb8))) << "port";
    EXPECT_FALSE(socket.takes(changed(36, 0x02))) << "port";
    EXPECT_FALSE(socket.takes(changed(21, 1))) << "a later fragment";
    EXPECT_FALSE(socket.takes(Bytes(14, 0xff))) << "short";
    EXPECT_TRUE(socket.takes(frame()));
}

/// What has UDP's port where options put it is for the responder to judge; what only seems to have it is not.
TEST(Filter, OptionsMoveThePort) {
    const Filtered socket;
    Bytes bytes = changed(14, 0x46);
    EXPECT_FALSE(socket.takes(bytes));
    bytes.insert(bytes.begin() + 34, {1, 1, 1, 1});
    EXPECT_TRUE(socket.takes(bytes));
}

TEST(Filter, Nothing) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
    attach_filter(ends[1], nothing_filter());
    EXPECT_EQ(::send(ends[0], "x", 1, 0), 1);
    char got;
    EXPECT_EQ(::recv(ends[1], &got, 1, 0), -1);
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
