/// A TCP port whose connections cannot be exhausted: a gRPC server gets them from here, and no more than it can bear.
///
/// gRPC (1.51) stops to listen for good once a process has no file descriptor left, and knows no limit of connections.
/// So there are two here, well below that of descriptors: of all, and of those from one address. Beyond them, a
/// stranger gives way, and never who was admitted: the oldest of the address that has most. What finds nobody who could
/// is closed at once. That half-open ones end is gRPC's part (server.hpp).
#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "control/address.hpp"
#include "control/log.hpp"

namespace polysome::control {

/// Accepts in a thread of its own, from start() to stop().
class Listener {
  public:
    static constexpr size_t most = 512, most_of_one = 64;  ///< connections
    /// Who is new has so long to say who he is before he gives way.
    static constexpr std::chrono::milliseconds patience{100};

    /// `listen`: "ADDRESS:PORT", numeric, IPv6 in brackets, or "unix:PATH". `take` gets each connection as a
    /// descriptor, its own from then on, which is closed when it ends. Failure(3) if the address cannot be had.
    Listener(Log& log, const std::string& listen, std::function<void(int listener, int connection)> take)
        : log_(log), take_(std::move(take)), end_(eventfd(0, EFD_CLOEXEC)), listener_(opened(listen)) {
        if (end_ < 0 || listener_ < 0) {
            if (end_ >= 0) close(end_);
            if (listener_ >= 0) close(listener_);
            throw Failure(3, "cannot listen on " + listen + ": the address is not this machine's or in use");
        }
        room_for_descriptors();
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
        stop();
        close(listener_);
        close(end_);
    }

    void start() {
        thread_ = std::thread([this] { run(); });
    }

    void stop() {
        if (!thread_.joinable()) return;
        const uint64_t one = 1;
        [[maybe_unused]] const auto put = write(end_, &one, sizeof one);
        thread_.join();
    }

    /// Any thread: whom gRPC calls `peer` is no stranger any more.
    void admit(const std::string& peer) {
        const auto from = peer_of(peer);
        if (!from) return;
        const std::scoped_lock lock(mutex_);
        for (Open& one : open_) one.admitted = one.admitted || one.from == *from;
    }

  private:
    using Clock = std::chrono::steady_clock;
    using Network = std::array<uint8_t, 16>;

    /// A connection that was handed over. The socket's inode tells if the descriptor is still that one.
    struct Open {
        int descriptor;
        ino_t inode;
        Peer from;
        Clock::time_point since;
        bool admitted;
    };

    static int opened(const std::string& listen) {
        if (listen.starts_with("unix:")) {
            sockaddr_un local{};
            local.sun_family = AF_UNIX;
            const std::string path = listen.substr(5);
            if (path.size() >= sizeof local.sun_path) return -1;
            std::memcpy(local.sun_path, path.c_str(), path.size());
            struct stat found{};
            if (lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(path.c_str());  // of an earlier run
            return bound(reinterpret_cast<const sockaddr&>(local), sizeof local);
        }
        const size_t colon = listen.rfind(':');
        if (colon == std::string::npos) return -1;
        std::string host = listen.substr(0, colon);
        if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
        addrinfo hints{}, *found = nullptr;
        hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host.c_str(), listen.c_str() + colon + 1, &hints, &found) != 0) return -1;
        const int made = bound(*found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
        return made;
    }

    static int bound(const sockaddr& address, socklen_t size) {
        const int made = socket(address.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (made < 0) return -1;
        const int yes = 1;
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (bind(made, &address, size) == 0 && ::listen(made, SOMAXCONN) == 0) return made;
        close(made);
        return -1;
    }

    /// The limit of descriptors is raised as far as this process may, so that it is never what ends connections.
    static void room_for_descriptors() {
        rlimit limit{};
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
        limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 8 * most));
        setrlimit(RLIMIT_NOFILE, &limit);
    }

    void run() {
        std::array<pollfd, 2> polled{{{end_, POLLIN, 0}, {listener_, POLLIN, 0}}};
        for (;;) {
            poll(polled.data(), polled.size(), -1);
            if (polled[0].revents != 0) return;
            if (polled[1].revents != 0) accept_one();
        }
    }

    void accept_one() {
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const int made = accept4(listener_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (made < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) usleep(50'000);  // others may end meanwhile
            return;
        }
        const Peer peer = peer_of(from);
        const std::scoped_lock lock(mutex_);
        forget_closed();
        if (!has_room(peer.network())) {
            log_.refused("a connection", open_now(peer.network()));
            close(made);
            return;
        }
        const int yes = 1;  // not for a Unix socket, which has no such thing
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        open_.push_back({made, inode(made), peer, Clock::now(), false});
        take_(listener_, made);
    }

    /// Of too many, the oldest stranger of the address that has most of them gives way. False: there is none.
    bool has_room(Network network) {
        std::map<Network, size_t> strangers;
        for (const Open& one : open_) strangers[one.from.network()] += !one.admitted;
        if (strangers[network] < most_of_one) {
            if (open_.size() < most) return true;
            ++strangers[network];  // the one that comes
            const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
            network = std::ranges::max_element(strangers, fewer)->first;
        }
        const auto oldest = std::ranges::find_if(
            open_, [&](const Open& one) { return !one.admitted && one.from.network() == network; });
        if (oldest == open_.end() || Clock::now() - oldest->since < patience) return false;
        log_.refused("a connection any longer", open_now(network));
        shutdown(oldest->descriptor, SHUT_RDWR);  // gRPC closes it
        open_.erase(oldest);
        return true;
    }

    std::string open_now(const Network& network) const {
        const auto own = std::ranges::count_if(open_, [&](const Open& one) { return one.from.network() == network; });
        return std::to_string(open_.size()) + " are open, " + std::to_string(own) + " of them of its address";
    }

    void forget_closed() {
        std::erase_if(open_, [](const Open& one) { return inode(one.descriptor) != one.inode; });
    }

    /// 0: there is no such descriptor.
    static ino_t inode(int descriptor) {
        struct stat found{};
        return fstat(descriptor, &found) == 0 ? found.st_ino : 0;
    }

    Log& log_;
    std::function<void(int, int)> take_;
    int end_, listener_;
    std::mutex mutex_;
    std::vector<Open> open_;  ///< under the mutex; the oldest first
    std::thread thread_;
};

}  // namespace polysome::control
