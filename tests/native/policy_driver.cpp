// Runs schedules on packets: reads cases, writes what becomes of every packet. test_policy_vectors.py drives it.
//
// A case: POLICY serve classes idle buffer queue window count WHEN_FULL PACKETS N, then N packets of
// TIME ORDER PORT SIZE CLASS ARG0 ARG1. Written: `L order port time`, `D order reason`, at the end `H held`.
#include <iostream>
#include <string>

#include "nf/policies.hpp"

namespace {

using namespace polysome;
using Key = std::array<uint64_t, 1>;

struct Host {
    void leave(uint32_t packet, uint16_t port, uint64_t time) {
        std::cout << "L " << packet << ' ' << port << ' ' << time << '\n';
    }
    void refuse(uint32_t packet, uint16_t reason) { std::cout << "D " << packet << ' ' << reason << '\n'; }
};

template <class Policy>
void run(const Settings& settings, size_t n) {
    Policy policy(settings);
    Host host;
    for (; n > 0; --n) {
        uint64_t time = 0;
        Item<Key> item;
        std::cin >> time >> item.packet >> item.port >> item.size >> item.cls[0] >> item.args[0] >> item.args[1];
        item.order = item.packet;
        while (policy.next_due() <= time) policy.run_due(host);
        policy.offer(item, time, host);
    }
    while (policy.next_due() <= ~uint64_t{0}) policy.run_due(host);
    std::cout << "H " << policy.held() << '\n';
}

}  // namespace

int main() {
    std::string policy;
    Settings s;
    int when_full = 0;
    size_t n = 0;
    while (std::cin >> policy >> s.serve >> s.classes >> s.idle >> s.buffer >> s.queue >> s.window >> s.count >>
           when_full >> s.packets >> n) {
        s.when_full = static_cast<WhenFull>(when_full);
        if (policy == "fifo") run<ServedFifo<Key>>(s, n);
        if (policy == "priority") run<Priority<Key>>(s, n);
        if (policy == "deadline") run<Deadline<Key>>(s, n);
        if (policy == "drr") run<Drr<Key>>(s, n);
        if (policy == "police") run<Police<Key>>(s, n);
        if (policy == "shape") run<Shape<Key>>(s, n);
        if (policy == "reframe") run<Reframe<Key>>(s, n);
    }
    return 0;
}
