// Section 6 of STATE.md: count_min. Vectors are computed by hand.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "nf/count_min.hpp"

namespace polysome {
namespace {

// Two rows of 4. Hash 0: places 0 and 0. Hash 80000000: step 8000000000000001, places 0 and 2. Hash 1: places 0 and 0.
constexpr uint64_t A = 0, B = 0x80000000, C = 1, most = ~uint64_t{0};

TEST(CountMin, S6_2_addCountsInOneCounterPerRowAndSaturates) {
    CountMin sketch(4, 2);
    sketch.add(A, 3);
    sketch.add(B);
    EXPECT_EQ(sketch.estimate(A), 3u);
    EXPECT_EQ(sketch.estimate(B), 1u);
    sketch.add(B, most - 1);
    EXPECT_EQ(sketch.estimate(B), most);
    sketch.add(B);
    EXPECT_EQ(sketch.estimate(B), most);
    EXPECT_EQ(sketch.estimate(A), 3u);  // row 0 is full, row 1 is not
}

TEST(CountMin, S6_3_estimateIsTheLeastCounter) {
    CountMin sketch(4, 2);
    sketch.add(A, 3);
    sketch.add(B, 5);
    EXPECT_EQ(sketch.estimate(A), 3u);
    EXPECT_EQ(sketch.estimate(B), 5u);
    EXPECT_EQ(sketch.estimate(C), 3u);
}

TEST(CountMin, S6_4_clear) {
    CountMin sketch(4, 2);
    sketch.add(A, 3);
    sketch.clear();
    EXPECT_EQ(sketch.estimate(A), 0u);
}

TEST(CountMin, S6_5_neverBelowTheCountAndSeldomFarAbove) {
    std::mt19937_64 random(6);
    CountMin sketch(272, 5);  // 1 %, 99 %
    std::map<uint64_t, uint64_t> count;
    uint64_t all = 0, far = 0;
    for (int i = 0; i < 5000; ++i) {
        const uint64_t key = random() % 1000, hash = siphash(5, reinterpret_cast<const uint8_t*>(&key), 8),
                       n = random() % 9;
        sketch.add(hash, n);
        count[hash] += n;
        all += n;
    }
    for (const auto& [hash, n] : count) {
        EXPECT_GE(sketch.estimate(hash), n);
        far += sketch.estimate(hash) > n + all / 100;
    }
    EXPECT_LE(far, count.size() / 100);
}

TEST(CountMin, PrefetchingChangesNothing) {
    CountMin sketch(4, 2);
    sketch.add(A, 3);
    for (const uint64_t hash : {A, B, C, most}) sketch.prefetch(hash);
    EXPECT_EQ(sketch.estimate(A), 3u);
}

}  // namespace
}  // namespace polysome
