// Runs a translated program from a script on standard input: one command per line, one line for each thing that
// happens.
//   port N [rate=R] [queue=BYTES] [metadata=M] [icrc] [loopback]
//   add TABLE ACTION KEY... [: PARAM...] [! PRIORITY]     a key is V, V&MASK or V/PREFIX; numbers decimal or 0x
//   modify TABLE ACTION KEY... [: PARAM...]    delete TABLE KEY...    clear TABLE    count TABLE
//   default TABLE ACTION [: PARAM...]
//   read REGISTER INDEX [FIELD]    write REGISTER INDEX VALUE [FIELD]    counter NAME INDEX
//   meter NAME INDEX CIR CBS PIR PBS    mirror SESSION PORT LENGTH [QUEUE]    group NUMBER RID PORT...
//   in PORT TIME HEX    run TIME    next    drops    passes    queue PORT NUMBER    coverage
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include PROGRAM
#include "switch/switch.hpp"

using namespace polysome::p4;

namespace {

using Words = std::vector<std::string>;

u128 number(const std::string& text) {
    const bool hex = text.starts_with("0x");
    u128 value = 0;
    for (const char c : hex ? text.substr(2) : text) {
        const int digit = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
        value = value * (hex ? 16u : 10u) + static_cast<unsigned>(digit);
    }
    return value;
}

std::uint64_t small(const std::string& text) { return static_cast<std::uint64_t>(number(text)); }
std::uint16_t port(const std::string& text) { return static_cast<std::uint16_t>(small(text)); }

struct Entry {
    std::vector<Match> keys;
    std::vector<u128> params;
    std::uint32_t priority = 0;
};

Entry entry(const Words& words, std::size_t from) {
    Entry found;
    bool params = false;
    for (std::size_t i = from; i < words.size(); ++i) {
        const std::string& w = words[i];
        if (w == ":") {
            params = true;
        } else if (w == "!") {
            found.priority = static_cast<std::uint32_t>(small(words.at(++i)));
        } else if (params) {
            found.params.push_back(number(w));
        } else {
            Match m;
            const auto mark = w.find_first_of("&/");
            m.value = number(w.substr(0, mark));
            if (mark != std::string::npos && w[mark] == '&') m.mask = number(w.substr(mark + 1));
            if (mark != std::string::npos && w[mark] == '/')
                m.prefix = static_cast<unsigned>(small(w.substr(mark + 1)));
            found.keys.push_back(m);
        }
    }
    return found;
}

std::vector<std::uint8_t> bytes(const std::string& hex) {
    std::vector<std::uint8_t> found;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        found.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return found;
}

PortConfig config(const Words& words) {
    PortConfig c;
    for (const std::string& w : words) {
        const std::string value = w.substr(w.find('=') + 1);
        if (w.starts_with("rate=")) c.rate = small(value);
        if (w.starts_with("queue=")) c.queue_bytes = static_cast<std::uint32_t>(small(value));
        if (w.starts_with("metadata=")) c.metadata = small(value);
        if (w == "icrc") c.append_icrc = true;
        if (w == "loopback") c.loopback = true;
    }
    return c;
}

void some_icrc(std::span<const std::uint8_t> frame, std::uint8_t* icrc) {
    store<4>(icrc, static_cast<std::uint32_t>(0xabcd0000u + frame.size()));
}

using Soft = Switch<generated::Program>;

void print(const Drops& d) {
    std::printf(
        "drops too_long=%lu ingress_parser=%lu ingress_program=%lu no_port=%lu empty_group=%lu unknown_port=%lu "
        "unknown_session=%lu queue_full=%lu egress_parser=%lu egress_program=%lu\n",
        d.too_long, d.ingress_parser, d.ingress_program, d.no_port, d.empty_group, d.unknown_port, d.unknown_session,
        d.queue_full, d.egress_parser, d.egress_program);
}

void transmitted(std::uint16_t number, std::span<const std::uint8_t> frame, Time left, std::uint64_t) {
    std::printf("out %u %lu ", number, left);
    for (const auto b : frame) std::printf("%02x", b);
    std::puts("");
}

void of_tables(SwitchDriver& driver, const Words& w) {
    const std::string& command = w[0];
    if (command == "add") {
        const Entry e = entry(w, 3);
        driver.add_entry(w[1], e.keys, w[2], e.params, e.priority);
    } else if (command == "modify") {
        const Entry e = entry(w, 3);
        driver.modify_entry(w[1], e.keys, w[2], e.params);
    } else if (command == "delete") {
        driver.delete_entry(w[1], entry(w, 2).keys);
    } else if (command == "clear") {
        driver.clear_entries(w[1]);
    } else if (command == "count") {
        std::printf("value %zu\n", driver.count_entries(w[1]));
    } else if (command == "default") {
        driver.set_default(w[1], w[2], entry(w, 3).params);
    } else {
        throw std::invalid_argument("unknown command " + command);
    }
}

void of_objects(SwitchDriver& driver, const Words& w) {
    const std::string& command = w[0];
    if (command == "read") {
        std::printf("value %lu\n", driver.read_register(w[1], small(w[2]), w.size() > 3 ? w[3] : ""));
    } else if (command == "write") {
        driver.write_register(w[1], small(w[2]), small(w[3]), w.size() > 4 ? w[4] : "");
    } else if (command == "counter") {
        const auto c = driver.read_counter(w[1], small(w[2]));
        std::printf("value %lu %lu\n", c.packets, c.bytes);
    } else if (command == "meter") {
        driver.set_meter(w[1], small(w[2]), {small(w[3]), small(w[4]), small(w[5]), small(w[6])});
    } else if (command == "mirror") {
        const auto queue = static_cast<std::uint8_t>(w.size() > 4 ? small(w[4]) : 0);
        driver.set_mirror(port(w[1]), port(w[2]), static_cast<std::uint32_t>(small(w[3])), queue);
    } else if (command == "group") {
        std::vector<std::uint16_t> members;
        for (std::size_t i = 3; i < w.size(); ++i) members.push_back(port(w[i]));
        driver.set_multicast(port(w[1]), members, port(w[2]));
    } else {
        of_tables(driver, w);
    }
}

template <class Program>
void print_coverage(const Program& program) {
    if constexpr (requires { program.coverage(); }) {
        std::printf("coverage");
        for (const auto n : program.coverage().counts()) std::printf(" %lu", n);
        std::puts("");
    }
}

void execute(Soft& soft, const Words& w) {
    const std::string& command = w[0];
    if (command == "port") {
        soft.set_port(port(w[1]), config(w));
    } else if (command == "in") {
        soft.receive(port(w[1]), bytes(w.size() > 3 ? w[3] : ""), small(w[2]));
    } else if (command == "run") {
        soft.advance(small(w[1]), transmitted);
    } else if (command == "next") {
        std::printf("value %lu\n", soft.next());
    } else if (command == "drops") {
        print(soft.drops());
    } else if (command == "passes") {
        const Passes& p = soft.passes();
        std::printf("passes ingress=%lu egress=%lu bypassed=%lu mirrored=%lu recirculated=%lu transmitted=%lu\n",
                    p.ingress, p.egress, p.bypassed, p.mirrored, p.recirculated, p.transmitted);
    } else if (command == "queue") {
        const QueueCounters& q = soft.queue(port(w[1]), static_cast<unsigned>(small(w[2])));
        std::printf("queue in=%lu dropped=%lu most=%u\n", q.in, q.dropped, q.most);
    } else if (command == "coverage") {
        print_coverage(soft.program());
    } else {
        of_objects(soft, w);
    }
}

}  // namespace

int main() {
    Soft soft(some_icrc);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream in(line);
        Words words;
        for (std::string word; in >> word;) words.push_back(word);
        if (words.empty()) continue;
        try {
            execute(soft, words);
        } catch (const std::invalid_argument& error) {
            std::printf("error %s\n", error.what());
        }
    }
}
