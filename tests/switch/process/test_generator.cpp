#include <gtest/gtest.h>

#include <vector>

#include "switch/process/generator.hpp"

namespace polysome::soft_switch {
namespace {

constexpr Time ms = 1'000'000;

/// The queue pairs whose frames came out of port 7, in order.
class Generators : public testing::Test {
  protected:
    std::vector<unsigned> at(Time now) {
        std::vector<unsigned> pairs;
        generator.advance(now, [&](std::uint16_t port, std::span<const std::uint8_t> frame) {
            EXPECT_EQ(port, 7);
            EXPECT_EQ(frame.size(), 60u);
            pairs.push_back(p4::load<2>(frame.data() + 4));
        });
        return pairs;
    }
    Generator generator;
};
using Pairs = std::vector<unsigned>;

TEST_F(Generators, WithoutASweepThereIsNothingToDo) {
    EXPECT_EQ(generator.next(), p4::never);
    EXPECT_EQ(at(1'000 * ms), Pairs{});
    generator.set({7, 10 * ms, 0}, 5 * ms);
    EXPECT_EQ(generator.next(), p4::never);
    generator.set({7, 0, 10}, 5 * ms);
    EXPECT_EQ(generator.next(), p4::never);
}

TEST_F(Generators, FramesAreSpreadOverThePeriod) {
    generator.set({7, 30 * ms, 3}, 100 * ms);
    EXPECT_EQ(generator.next(), 101 * ms);
    EXPECT_EQ(at(101 * ms), Pairs{0});
    EXPECT_EQ(generator.next(), 110 * ms);
    EXPECT_EQ(at(110 * ms - 1), Pairs{});
    EXPECT_EQ(at(110 * ms), Pairs{1});
    EXPECT_EQ(at(120 * ms), Pairs{2});
    EXPECT_EQ(at(130 * ms), Pairs{0});
}

TEST_F(Generators, WakesOnceAMillisecondForAllThatIsDue) {
    generator.set({7, 8 * ms, 32}, 0);
    EXPECT_EQ(at(1 * ms), (Pairs{0, 1, 2, 3, 4}));
    EXPECT_EQ(generator.next(), 2 * ms);
    EXPECT_EQ(at(2 * ms - 1), Pairs{});
    EXPECT_EQ(at(2 * ms), (Pairs{5, 6, 7, 8}));
    std::size_t frames = 0;
    for (Time now = 3 * ms; now <= 80 * ms; now += ms) frames += at(now).size();
    EXPECT_EQ(frames, 32u * 10 + 1 - 9);
}

TEST_F(Generators, RoundsThatWereMissedDoNotComeLater) {
    generator.set({7, 10 * ms, 5}, 0);
    EXPECT_EQ(at(2 * ms), (Pairs{0, 1}));
    EXPECT_EQ(at(1'000 * ms), Pairs{2});
    EXPECT_EQ(at(1'002 * ms), Pairs{3});
    EXPECT_EQ(at(1'007 * ms), (Pairs{4, 0})) << "late by less than a period, nothing is left out";
}

TEST_F(Generators, APeriodMayBeShorterThanTheTimeBetweenTwoLooks) {
    generator.set({7, ms / 4, 2}, 0);
    EXPECT_EQ(at(1 * ms), (Pairs{0, 1, 0, 1, 0, 1, 0, 1, 0}));
    EXPECT_EQ(at(2 * ms), (Pairs{1, 0, 1, 0, 1, 0, 1, 0}));
}

TEST_F(Generators, ANewSweepBeginsANewRound) {
    generator.set({7, 10 * ms, 5}, 0);
    at(5 * ms);
    generator.set({7, 20 * ms, 2}, 6 * ms);
    EXPECT_EQ(at(7 * ms), Pairs{0});
    EXPECT_EQ(at(16 * ms), Pairs{1});
    generator.set({}, 17 * ms);
    EXPECT_EQ(generator.next(), p4::never);
}

TEST_F(Generators, RefusesWhatNoSwitchCanDo) {
    generator.set({7, 10 * ms, 5}, 0);
    EXPECT_THROW(generator.set({512, ms, 1}, 0), std::invalid_argument);
    EXPECT_THROW(generator.set({7, 1000 * ms, 65'537}, 0), std::invalid_argument);
    EXPECT_THROW(generator.set({7, 9'999, 10}, 0), std::invalid_argument);
    EXPECT_EQ(at(2 * ms), (Pairs{0, 1})) << "as it was set before";
    generator.set({7, 10'000, 10}, 0);
    EXPECT_THROW(generator.set({7, Generator::longest_period + 1, 1}, 0), std::invalid_argument);
    generator.set({7, Generator::longest_period, 65'536}, 0);
    EXPECT_EQ(at(Generator::longest_period / 65'536), (Pairs{0, 1}));
}

}  // namespace
}  // namespace polysome::soft_switch
