// Who gives way to whom where there are too many connections.
#include <gtest/gtest.h>

#include "control/listener.hpp"

using namespace polysome::control;

namespace {

constexpr size_t most_of_one = Listener::most_of_one;

int port_of(int socket, bool of_peer) {
    sockaddr_storage found{};
    socklen_t size = sizeof found;
    auto* const address = reinterpret_cast<sockaddr*>(&found);
    EXPECT_EQ(of_peer ? getpeername(socket, address, &size) : getsockname(socket, address, &size), 0);
    return ntohs(reinterpret_cast<sockaddr_in6&>(found).sin6_port);  // where sockaddr_in has it, too
}

/// A port of this machine, IPv4 and IPv6, whose connections are only kept.
struct Flooded {
    Flooded() : listener(log, "[::]:" + std::to_string(port), [this](int, int connection) { keep(connection); }) {
        listener.start();
    }
    ~Flooded() {
        listener.stop();
        for (const int one : kept) close(one);
        for (const int one : opened) close(one);
    }

    static int free_port() {
        const int made = socket(AF_INET6, SOCK_STREAM, 0);
        sockaddr_in6 any{};
        any.sin6_family = AF_INET6;
        EXPECT_EQ(bind(made, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
        const int found = port_of(made, false);
        close(made);
        return found;
    }

    void keep(int connection) {
        const std::lock_guard lock(mutex);
        kept.push_back(connection);
        ++taken;
    }

    /// From an address of 127.0.0.0/8; waits until it was taken, or refused.
    int connect_from(const std::string& source) {
        const int made = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in own{}, other{};
        own.sin_family = other.sin_family = AF_INET;
        other.sin_port = htons(static_cast<uint16_t>(port));
        inet_pton(AF_INET, source.c_str(), &own.sin_addr);
        inet_pton(AF_INET, "127.0.0.1", &other.sin_addr);
        const size_t before = count();
        EXPECT_EQ(bind(made, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
        EXPECT_EQ(connect(made, reinterpret_cast<sockaddr*>(&other), sizeof other), 0);
        while (count() == before && !ended(made)) usleep(100);
        opened.push_back(made);
        return made;
    }

    size_t count() {
        const std::lock_guard lock(mutex);
        return taken;
    }

    static bool ended(int connection) {
        char byte = 0;
        return recv(connection, &byte, 1, MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }

    static void wait() { usleep(2 * 1000 * Listener::patience.count()); }

    int port = free_port();
    Log log{"test"};
    std::mutex mutex;
    std::vector<int> kept, opened;
    size_t taken = 0;
    Listener listener;
};

std::string name(int connection) { return "ipv4:127.0.0.1:" + std::to_string(port_of(connection, false)); }

TEST(Listener, OfOneAddressTheOldestStrangerGivesWay) {
    Flooded at;
    const int controller = at.connect_from("127.0.0.1");
    at.listener.admit(name(controller));
    std::vector<int> strangers;
    for (size_t i = 0; i < most_of_one; ++i) strangers.push_back(at.connect_from("127.0.0.1"));
    at.wait();
    for (size_t i = 0; i < 10; ++i) {
        EXPECT_FALSE(at.ended(at.connect_from("127.0.0.1")));
        EXPECT_TRUE(at.ended(strangers[i]));
        EXPECT_FALSE(at.ended(strangers[i + 1]));
    }
    EXPECT_FALSE(at.ended(controller));
    EXPECT_FALSE(at.ended(at.connect_from("127.0.0.2")));
    EXPECT_FALSE(at.ended(strangers[10]));
}

TEST(Listener, WhoIsNewHasTimeToSayWhoHeIs) {
    Flooded at;
    at.connect_from("127.0.0.1");
    std::vector<int> strangers;
    const auto began = std::chrono::steady_clock::now();
    for (size_t i = 0; i < most_of_one + 5; ++i) strangers.push_back(at.connect_from("127.0.0.1"));
    if (std::chrono::steady_clock::now() - began > Listener::patience) GTEST_SKIP() << "too slow here";
    for (size_t i = 0; i < strangers.size(); ++i) {
        EXPECT_EQ(at.ended(strangers[i]), i >= most_of_one - 1) << i;  // one was there before
    }
}

TEST(Listener, OfAllTheAddressWithMostStrangersGivesWay) {
    Flooded at;
    const int controller = at.connect_from("127.0.0.1"), few = at.connect_from("127.0.0.9");
    at.listener.admit(name(controller));
    while (at.count() < Listener::most) {
        at.connect_from("127.0.1." + std::to_string(1 + at.count() % 16));
    }
    const int first = at.opened[2];
    at.wait();
    for (int i = 1; i < 40; ++i) EXPECT_FALSE(at.ended(at.connect_from("127.0.2." + std::to_string(i))));
    EXPECT_TRUE(at.ended(first));
    EXPECT_FALSE(at.ended(controller));
    EXPECT_FALSE(at.ended(few));
}

TEST(Listener, WhoWasAdmittedCountsForNoStranger) {
    Flooded at;
    for (size_t i = 0; i < most_of_one; ++i) at.listener.admit(name(at.connect_from("127.0.0.1")));
    std::vector<int> strangers;
    for (size_t i = 0; i < most_of_one; ++i) strangers.push_back(at.connect_from("127.0.0.1"));
    for (const int one : at.opened) EXPECT_FALSE(at.ended(one));
}

}  // namespace
