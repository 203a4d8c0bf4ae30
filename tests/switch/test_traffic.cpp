#include <gtest/gtest.h>

#include <set>

#include "switch/objects.hpp"
#include "switch/traffic_manager.hpp"

namespace polysome::p4 {
namespace {

TEST(PacketPool, GivesEachPacketABufferOfItsOwnAndTakesItBack) {
    PacketPool pool;
    std::set<std::uint8_t*> seen;
    std::vector<Packet*> held;
    for (int i = 0; i < 200; ++i) {
        held.push_back(pool.make(i % 2 == 0 ? 100 : 5000));
        std::memset(held.back()->data, i, held.back()->size + PacketPool::tailroom);
        EXPECT_TRUE(seen.insert(held.back()->base).second);
    }
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(held[static_cast<std::size_t>(i)]->data[99], static_cast<std::uint8_t>(i));
        pool.release(held[static_cast<std::size_t>(i)]);
    }
    EXPECT_TRUE(seen.contains(pool.make(100)->base));
    EXPECT_TRUE(seen.contains(pool.make(5000)->base));
}

TEST(PacketPool, RewritesTheFrontAndLeavesTheRest) {
    PacketPool pool;
    const std::uint8_t frame[] = {1, 2, 3, 4, 5, 6};
    Packet* p = pool.copy(frame);
    Front front;
    front.consumed = 4;
    front.emitted = 2;
    front.head[0] = 0xa, front.head[1] = 0xb;
    p = pool.rewrite(p, front);
    const std::uint8_t wanted[] = {0xa, 0xb, 5, 6};
    ASSERT_EQ(p->size, 4u);
    EXPECT_EQ(std::memcmp(p->data, wanted, 4), 0);
}

TEST(PacketPool, MovesAPacketWhoseRoomIsUsedUp) {
    PacketPool pool;
    std::vector<std::uint8_t> wanted(1500, 7);
    Packet* p = pool.copy(wanted);
    p->port = 5, p->length = 99;
    Front front;
    front.emitted = most_emitted;
    for (std::uint8_t round = 0; round < 12; ++round) {
        std::memset(front.head, round, sizeof front.head);
        p = pool.rewrite(p, front);
        wanted.insert(wanted.begin(), most_emitted, round);
    }
    ASSERT_EQ(p->size, wanted.size());
    EXPECT_EQ(std::memcmp(p->data, wanted.data(), wanted.size()), 0);
    EXPECT_EQ(p->port, 5);
    EXPECT_EQ(p->length, 99);
}

class Traffic : public testing::Test {
  protected:
    Packet* packet(std::uint16_t port, std::uint8_t queue, std::uint32_t size = 100) {
        Packet* p = pool.make(size);
        p->port = port, p->queue = queue;
        return p;
    }
    PacketPool pool;
    TrafficManager traffic{80};
};

TEST_F(Traffic, TheEarliestGoesFirstAndOfEqualsTheLowestPort) {
    EXPECT_EQ(traffic.next().at, never);
    EXPECT_TRUE(traffic.put(packet(9, 0), 50));
    EXPECT_TRUE(traffic.put(packet(4, 0), 50));
    EXPECT_TRUE(traffic.put(packet(7, 0), 60));
    EXPECT_EQ(traffic.next().at, 50u);
    EXPECT_EQ(traffic.next().port, 4);
    EXPECT_EQ(traffic.take(4, 50)->port, 4);
    EXPECT_EQ(traffic.next().port, 9);
    traffic.take(9, 50);
    EXPECT_EQ(traffic.next().at, 60u);
    traffic.take(7, 60);
    EXPECT_EQ(traffic.next().at, never);
}

TEST_F(Traffic, PriorityIsAmongThoseThatAreThereByThen) {
    EXPECT_TRUE(traffic.put(packet(1, 0), 10));
    EXPECT_TRUE(traffic.put(packet(1, 7), 20));
    EXPECT_TRUE(traffic.put(packet(1, 3), 20));
    EXPECT_EQ(traffic.take(1, 10)->queue, 0);
    EXPECT_EQ(traffic.take(1, 20)->queue, 7);
    EXPECT_EQ(traffic.take(1, 20)->queue, 3);
}

TEST_F(Traffic, TheWireIsBusyForTheTimeOfTheFrameRoundedUp) {
    traffic.port(1).config.rate = 3'000'000'000;
    EXPECT_EQ(traffic.send(1, 76, 1000), 1000u + 267);  // 100 bytes are 800 bits: 266.67 ns
    EXPECT_TRUE(traffic.put(packet(1, 0), 1001));
    EXPECT_EQ(traffic.next().at, 1267u);
    EXPECT_EQ(traffic.send(2, 76, 1000), 1000u);
}

TEST_F(Traffic, AQueueHoldsItsCellsAndNoMore) {
    traffic.port(1).config.queue_bytes = 400;
    EXPECT_TRUE(traffic.put(packet(1, 0), 0));
    EXPECT_TRUE(traffic.put(packet(1, 0, 160), 0));
    EXPECT_FALSE(traffic.put(packet(1, 0, 81), 0));  // two cells, and one is left
    EXPECT_TRUE(traffic.put(packet(1, 0, 50), 0));
    EXPECT_TRUE(traffic.put(packet(1, 1), 0));  // another queue
    traffic.take(1, 0);
    traffic.take(1, 0);
    EXPECT_TRUE(traffic.put(packet(1, 0), 0));
    const QueueCounters& counters = traffic.port(1).queue[0].counters;
    EXPECT_EQ(counters.in, 4u);
    EXPECT_EQ(counters.dropped, 1u);
    EXPECT_EQ(counters.most, 400u);
}

TEST_F(Traffic, TheFirstQueueHasALimitOfItsOwn) {
    traffic.port(1).config.queue_bytes = 80;
    traffic.port(1).config.first_queue_bytes = 240;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(traffic.put(packet(1, 7, 80), 0));
    EXPECT_FALSE(traffic.put(packet(1, 7, 80), 0));
    EXPECT_TRUE(traffic.put(packet(1, 0, 80), 0));
    EXPECT_FALSE(traffic.put(packet(1, 0, 80), 0));
    traffic.port(1).config.first_queue_bytes = 0;
    EXPECT_EQ(traffic.port(1).config.limit(7), 80u);
}

TEST(Meters, BucketsHoldTheirBurstsHoweverLongTheyWait) {
    Meter meter("m", 2, true);
    EXPECT_EQ(meter.execute(0, 1'000'000, 0), Meter::green);  // no rates
    meter.set(0, {8, 100, 16, 200});                          // a byte and two bytes each second
    EXPECT_EQ(meter.execute(0, 100, 1'000'000'000'000'000), Meter::green);
    EXPECT_EQ(meter.execute(0, 100, 1'000'000'000'000'000), Meter::yellow);
    EXPECT_EQ(meter.execute(0, 1, 1'000'000'000'000'000), Meter::red);
    EXPECT_EQ(meter.execute(0, 1, 1'000'000'499'999'999), Meter::red);  // a nanosecond too early for a byte
    EXPECT_EQ(meter.execute(0, 1, 1'000'000'500'000'000), Meter::yellow);
    EXPECT_EQ(meter.execute(7, 1, 0), Meter::green);
}

TEST(Meters, APacketMeterTakesOneForEachPacket) {
    Meter meter("m", 1, false);
    meter.set(0, {1, 1, 1, 2});
    EXPECT_EQ(meter.execute(0, 9000, 0), Meter::green);
    EXPECT_EQ(meter.execute(0, 60, 0), Meter::yellow);
    EXPECT_EQ(meter.execute(0, 60, 0), Meter::red);
    EXPECT_EQ(meter.execute(0, 60, 1'000'000'000), Meter::green);
}

}  // namespace
}  // namespace polysome::p4
