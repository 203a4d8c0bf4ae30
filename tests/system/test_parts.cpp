// The parts that a system is made of: time, agenda, links, ledger.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "switch/roles.hpp"
#include "system/agenda.hpp"
#include "system/link.hpp"
#include "system/ring.hpp"

namespace {

using namespace polysome;
using namespace polysome::system;
using Bytes = std::vector<uint8_t>;

// ---------------------------------------------------------------- time

TEST(Wire, AFrameTakesItsBytesAndTheOverhead) {
    Wire wire(8'000'000'000);  // a byte per ns
    EXPECT_EQ(wire.put(1000, 100), 1000u + 100 + 24);
    EXPECT_EQ(wire.put(1000, 10), 1124u + 60 + 24) << "a short one is filled up, and waits";
    EXPECT_EQ(wire.waiting(1000), 208u);
    EXPECT_EQ(wire.waiting(1200), 8u);
    EXPECT_EQ(wire.waiting(5000), 0u);
    EXPECT_EQ(wire.put(5000, 100), 5124u) << "a wire that rests owes nothing";
}

TEST(Wire, FractionsOfANanosecondAddUp) {
    Wire wire(100'000'000'000);  // 84 bytes: 6.72 ns
    EXPECT_EQ(wire.put(0, 60), 7u);
    Time last = 0;
    for (int i = 1; i < 1000; ++i) last = wire.put(0, 60);
    EXPECT_EQ(last, 6720u);
}

TEST(Wire, WithoutARateThereIsNoWaiting) {
    Wire wire(0);
    EXPECT_EQ(wire.put(7, 9000), 7u);
    EXPECT_EQ(wire.waiting(7), 0u);
}

TEST(Random, RepeatsBySeedAndSource) {
    Random a(1, "x"), b(1, "x"), c(1, "y"), d(2, "x");
    std::set<uint64_t> firsts;
    for (int i = 0; i < 10; ++i) {
        const uint64_t value = a.next();
        EXPECT_EQ(value, b.next());
        firsts.insert({value, c.next(), d.next()});
    }
    EXPECT_EQ(firsts.size(), 30u);
    for (int i = 0; i < 1000; ++i) EXPECT_LT(a.below(7), 7u);
}

TEST(Chance, HappensAsOftenAsItSays) {
    Chance never_so(0, 1, "a"), always(1, 1, "b"), some(0.01, 1, "c");
    int count = 0;
    for (int i = 0; i < 100'000; ++i) {
        EXPECT_FALSE(never_so.happens());
        EXPECT_TRUE(always.happens());
        count += some.happens();
    }
    EXPECT_NEAR(count, 1000, 150);
}

// ---------------------------------------------------------------- agenda, ring

TEST(Agenda, GivesTheEarliestAndOfEqualsTheFirst) {
    for (const size_t parts : {1u, 2u, 3u, 5u, 8u, 13u}) {
        Agenda agenda(parts);
        EXPECT_EQ(agenda.time(), never);
        std::vector<Time> due(parts, never);
        Random random(parts, "agenda");
        for (int i = 0; i < 2000; ++i) {
            const size_t part = random.below(parts);
            due[part] = random.below(4) == 0 ? never : random.below(10);
            agenda.set(part, due[part]);
            const auto first = std::min_element(due.begin(), due.end());
            ASSERT_EQ(agenda.time(), *first);
            if (*first != never) {
                ASSERT_EQ(agenda.first(), static_cast<size_t>(first - due.begin()));
            }
        }
    }
}

TEST(Ring, KeepsOrderWhileItGrows) {
    Ring<int> ring;
    int in = 0, out = 0;
    for (int round = 1; round < 60; ++round) {
        for (int i = 0; i < round; ++i) ring.push(in++);
        for (int i = 0; i < round / 2; ++i) EXPECT_EQ(ring.pop(), out++);
    }
    EXPECT_EQ(ring.size(), static_cast<size_t>(in - out));
    while (!ring.empty()) EXPECT_EQ(ring.pop(), out++);
    EXPECT_EQ(in, out);
}

TEST(Sweep, TheQueuePairIsTheNumberOfThePacket) {
    const auto frame = p4::sweep_frame(0x1234);
    EXPECT_EQ(frame[4], 0x12);
    EXPECT_EQ(frame[5], 0x34);
    EXPECT_EQ(std::count(frame.begin(), frame.end(), 0), 58);
}

// ---------------------------------------------------------------- links

struct Line {
    Commons commons;
    Link link;

    explicit Line(const LinkConfig& config, const Faults& faults = {}, uint64_t seed = 1)
        : link(commons, "line", 3, Role::traffic, config, faults, seed) {}

    uint64_t send(Time now, size_t size = 100) {
        const uint64_t mark = Mark::of(Mark::packet, commons.ledger.arrived());
        link.send(Bytes(size, static_cast<uint8_t>(mark)), mark, now);
        return mark;
    }
    /// Everything that comes out: time, packet, flipped.
    std::vector<std::tuple<Time, uint64_t, bool>> drain() {
        std::vector<std::tuple<Time, uint64_t, bool>> all;
        while (link.next() != never) {
            const Time at = link.next();
            const Frame frame = link.deliver();
            const bool same = std::all_of(frame.data, frame.data + frame.size,
                                          [&](uint8_t byte) { return byte == static_cast<uint8_t>(frame.mark); });
            EXPECT_EQ(same, !frame.flipped);
            all.emplace_back(at, Mark::number(frame.mark), frame.flipped);
            give_back(commons.pool, frame);
        }
        return all;
    }
};

TEST(Link, TimeOnTheWireThenDelay) {
    Line line({.rate = 8'000'000'000, .delay = 1000, .queue = 1000});
    line.send(0);
    line.send(0);
    const auto out = line.drain();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(std::get<0>(out[0]), 1124u);
    EXPECT_EQ(std::get<0>(out[1]), 1248u);
    EXPECT_EQ(line.link.counters().sent[static_cast<size_t>(Kind::packet)].bytes, 200u);
    EXPECT_EQ(line.link.counters().delivered.bytes, 200u);
}

TEST(Link, TheTailOfAFullQueueIsDropped) {
    Line line({.rate = 8'000'000'000, .delay = 0, .queue = 300});
    for (int i = 0; i < 10; ++i) line.send(0);
    EXPECT_EQ(line.drain().size(), 3u);
    EXPECT_EQ(line.link.counters().queue_full, 7u);
    const Ledger& ledger = line.commons.ledger;
    EXPECT_EQ(ledger.name(ledger.cause_of(9)), "line: queue full");
}

TEST(Link, LossAndRepetition) {
    Line line({}, {.loss = 0.1, .duplicate = 0.2});
    for (Time t = 0; t < 10'000; ++t) line.send(t);
    const auto out = line.drain();
    const Link::Counters& counters = line.link.counters();
    EXPECT_NEAR(static_cast<double>(counters.duplicated), 2000, 150);
    EXPECT_NEAR(static_cast<double>(counters.lost), 1200, 150);
    EXPECT_EQ(out.size(), 10'000 + counters.duplicated - counters.lost);
    EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
}

TEST(Link, AHeldFrameComesWithinItsBoundAndOthersOvertakeIt) {
    Line line({.delay = 50}, {.reorder = 0.1, .hold = 20});
    for (Time t = 0; t < 1000; ++t) line.send(t);
    size_t overtaken = 0;
    uint64_t latest = 0;
    for (const auto& [at, packet, flipped] : line.drain()) {
        EXPECT_GE(at, packet + 50);
        EXPECT_LE(at, packet + 70);
        overtaken += packet < latest;
        latest = std::max(latest, packet);
    }
    EXPECT_GT(overtaken, 50u);
    EXPECT_LE(overtaken, line.link.counters().reordered);
    EXPECT_EQ(line.link.counters().delivered.frames, 1000u);
}

TEST(Link, CorruptFramesFailTheirChecksumUnlessTheyFlipBehindIt) {
    Line caught({}, {.corrupt = 0.1});
    Line passed({}, {.corrupt = 0.1, .past_checksum = 1});
    for (Time t = 0; t < 1000; ++t) {
        caught.send(t);
        passed.send(t);
    }
    EXPECT_EQ(caught.drain().size(), 1000 - caught.link.counters().fcs_errors);
    EXPECT_GT(caught.link.counters().fcs_errors, 50u);
    size_t flipped = 0;
    for (const auto& out : passed.drain()) flipped += std::get<2>(out);
    EXPECT_EQ(flipped, passed.link.counters().flipped);
    EXPECT_GT(flipped, 50u);
}

TEST(Link, DownFromTo) {
    Line line({}, {.down = {{10, 20}, {30, 31}}});
    for (Time t = 0; t < 40; ++t) line.send(t);
    EXPECT_EQ(line.drain().size(), 29u);
    EXPECT_EQ(line.link.counters().down, 11u);
}

// ---------------------------------------------------------------- ledger

TEST(Ledger, EveryPacketHasOneFate) {
    Ledger ledger;
    const Cause bad = ledger.cause("bad"), worse = ledger.cause("worse");
    EXPECT_EQ(ledger.cause("bad"), bad);
    for (int i = 0; i < 8; ++i) ledger.arrived();
    const auto packet = [](uint64_t i) { return Mark::of(Mark::packet, i); };
    const auto decision = [](uint64_t i) { return Mark::of(Mark::decision, i); };
    ledger.left(packet(0));
    ledger.left(decision(ledger.decides(1)));
    ledger.dropped(ledger.decides(2));
    ledger.decides(3);
    ledger.incident(packet(4), bad);
    ledger.incident(packet(4), worse);
    ledger.reached(packet(5), Step::at_switch);
    ledger.reached(decision(ledger.decides(6)), Step::back);
    ledger.reached(packet(7), Step::merging);
    ledger.reached(packet(7), Step::to_nf);
    EXPECT_EQ(ledger.fate(0), Fate::left);
    EXPECT_EQ(ledger.fate(1), Fate::left);
    EXPECT_EQ(ledger.fate(2), Fate::dropped);
    EXPECT_EQ(ledger.fate(3), Fate::held);
    for (uint64_t i = 4; i < 8; ++i) EXPECT_EQ(ledger.fate(i), Fate::lost);
    EXPECT_EQ(ledger.name(ledger.cause_of(4)), "bad");
    EXPECT_EQ(ledger.name(ledger.cause_of(5)), "switch: a packet went nowhere");
    EXPECT_EQ(ledger.name(ledger.cause_of(6)), "switch: the NF's answer went nowhere");
    EXPECT_EQ(ledger.name(ledger.cause_of(7)), "switch: the packet was never written");
    ledger.written(packet(7));
    EXPECT_EQ(ledger.name(ledger.cause_of(7)), "switch: the response was not merged");
}

TEST(Ledger, OfARepeatedPacketOneCopyIsEnough) {
    Ledger ledger;
    ledger.arrived();
    const uint64_t first = ledger.decides(0), second = ledger.decides(0);
    ledger.dropped(first);
    ledger.left(Mark::of(Mark::decision, second));
    EXPECT_EQ(ledger.fate(0), Fate::left);
    EXPECT_EQ(ledger.copies(0), 1u);
}

TEST(Ledger, FramesAboutNoPacketAreNobodys) {
    Ledger ledger;
    ledger.incident(0, ledger.cause("bad"));
    ledger.reached(Mark::of(Mark::emission, 5), Step::back);
    EXPECT_EQ(ledger.packet_of(ledger.decides(no_number)), no_number);
    ledger.left(Mark::of(Mark::decision, 0));
    EXPECT_EQ(ledger.packets(), 0u);
}

}  // namespace
