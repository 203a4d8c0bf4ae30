// Section 4 of STATE.md: token buckets. Vectors are computed by hand.
#include <gtest/gtest.h>

#include <random>

#include "nf/token_bucket.hpp"

namespace polysome {
namespace {

constexpr uint64_t B = tokens_per_byte, P = tokens_per_packet, Mbps10 = 10'000'000, most = NEVER;

Bucket after_1500() {
    Bucket bucket;
    EXPECT_TRUE(bucket_take(bucket, 5, 1500, Mbps10, 1500, B));
    return bucket;
}

TEST(TokenBucket, S4_1_units) {
    EXPECT_TRUE(bucket_has({0, 0}, 1, 1, 8'000'000'000, 100, B));
    EXPECT_FALSE(bucket_has({0, 0}, 1, 1, 7'999'999'999, 100, B));
    EXPECT_EQ(bucket_fill({0, 0}, 1'000'000'000, 3, 100, P), 3u);
}

TEST(TokenBucket, S4_2_refill) {
    const Bucket empty{0, 5};
    EXPECT_EQ(bucket_fill(empty, 5, Mbps10, 1500, B), 0u);
    EXPECT_EQ(bucket_fill(empty, 1'000'005, Mbps10, 1500, B), 1250u);
    EXPECT_EQ(bucket_fill(empty, 1'200'005, Mbps10, 1500, B), 1500u);
    EXPECT_EQ(bucket_fill(empty, 9'000'005, Mbps10, 1500, B), 1500u);
    EXPECT_TRUE(bucket_has({~u128{0} - 4, 0}, 6, most, 1, most, B));  // the sum saturates
}

TEST(TokenBucket, S4_3_startsFull) {
    for (const uint64_t now : {uint64_t{0}, most})
        for (const uint64_t burst : {uint64_t{0}, uint64_t{1500}, most}) {
            EXPECT_EQ(bucket_fill({}, now, most, burst, B), burst);
            EXPECT_TRUE(bucket_has({}, now, burst, 0, burst, B));
            EXPECT_TRUE(burst == most || !bucket_has({}, now, burst + 1, 0, burst, B));
        }
}

TEST(TokenBucket, S4_4_takeAndHas) {
    Bucket bucket = after_1500();
    EXPECT_TRUE((bucket == Bucket{0, 5}));
    EXPECT_FALSE(bucket_has(bucket, 1'000'005, 1251, Mbps10, 1500, B));
    EXPECT_TRUE(bucket_has(bucket, 1'000'005, 1250, Mbps10, 1500, B));
    EXPECT_FALSE(bucket_has(bucket, 1'000'004, 1250, Mbps10, 1500, B));
    EXPECT_TRUE(bucket_take(bucket, 1'000'005, 1000, Mbps10, 1500, B));
    EXPECT_TRUE((bucket == Bucket{2'000'000'000'000, 1'000'005}));
    Bucket nothing{0, 3};
    EXPECT_TRUE(bucket_take(nothing, 9, 0, 0, 0, P));
    EXPECT_TRUE((nothing == Bucket{0, 9}));
}

TEST(TokenBucket, S4_5_aTakeThatFailsChangesNothing) {
    Bucket bucket = after_1500();
    EXPECT_FALSE(bucket_take(bucket, 1'000'005, 1251, Mbps10, 1500, B));
    EXPECT_TRUE((bucket == Bucket{0, 5}));
}

TEST(TokenBucket, S4_6_whetherALookStoresTheRefilledBucketMakesNoDifference) {
    std::mt19937_64 random(4);
    const auto below = [&](uint64_t n) { return random() % n; };
    for (int round = 0; round < 200; ++round) {
        const uint64_t rate = below(3) == 0 ? 0 : below(40'000'000), burst = below(4000);
        Bucket kept{u128{below(8'000)} * B, below(1000)}, stored = kept;
        uint64_t now = kept.last;
        for (int call = 0; call < 50; ++call) {
            now += below(1'000'000);
            const uint64_t n = below(5000);
            bucket_take(stored, now, 0, rate, burst, B);
            EXPECT_EQ(bucket_take(kept, now, n, rate, burst, B), bucket_take(stored, now, n, rate, burst, B));
        }
    }
}

TEST(TokenBucket, S4_2_numbersBelow2To64AreNoException) {
    const u128 edge = u128{1} << 64;
    for (const u128 tokens : {u128{0}, u128{1}, edge / 2, edge - 1, edge, ~u128{0}})
        for (const uint64_t last : {uint64_t{0}, uint64_t{5}, uint64_t{6}, most / 2})
            for (const uint64_t now : {uint64_t{5}, uint64_t{6}, most / 2, most - 1})
                for (const uint64_t rate : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{1} << 32, most})
                    for (const u128 wanted : {u128{0}, u128{1}, edge / 2 + 1, edge - 1, edge})
                        for (const u128 limit : {u128{0}, u128{1}, edge - 1, edge, ~u128{0}}) {
                            const Bucket bucket{tokens, last};
                            const BucketLook quick = bucket_look(bucket, now, wanted, rate, limit),
                                             wide = bucket_look_wide(bucket, now, wanted, rate, limit);
                            ASSERT_EQ(quick.enough, wide.enough);
                            ASSERT_TRUE(quick.left == wide.left);
                        }
}

TEST(TokenBucket, S4_7_eachCallUsesItsOwnRateForAllTheTimeSinceLast) {
    const auto takes = [](uint64_t now, uint64_t n, uint64_t rate, uint64_t burst) {
        Bucket bucket{0, 0};
        return bucket_take(bucket, now, n, rate, burst, P);
    };
    EXPECT_FALSE(takes(50, 1, 10'000'000, 9));
    EXPECT_TRUE(takes(100, 1, 10'000'000, 9));
    EXPECT_TRUE(takes(100, 2, 20'000'000, 9));
    EXPECT_FALSE(takes(100, 2, 20'000'000, 1));
}

TEST(TokenBucket, S4_8_whatIsShownIsRoundedDown) {
    EXPECT_EQ(bucket_fill({2 * u128{B} - 1, 0}, 0, 0, 9, B), 1u);
    EXPECT_EQ(bucket_fill({2 * u128{B}, 0}, 0, 0, 9, B), 2u);
}

TEST(TokenBucket, S4_9_whenItIsThere) {
    const Bucket bucket = after_1500();
    EXPECT_EQ(ready_at(bucket, 5, 1250, Mbps10, 1500, B), 1'000'005u);
    EXPECT_EQ(ready_at(bucket, 900'000, 1250, Mbps10, 1500, B), 1'000'005u);
    EXPECT_EQ(ready_at(bucket, 1'000'006, 1250, Mbps10, 1500, B), 1'000'006u);
    EXPECT_EQ(ready_at(bucket, 0, 0, Mbps10, 1500, B), 5u);
    EXPECT_EQ(ready_at({0, 0}, 0, 1, 3, 9, P), 333'333'334u);
    EXPECT_EQ(ready_at(bucket, 5, 1501, Mbps10, 1500, B), NEVER);
    EXPECT_EQ(ready_at(bucket, 5, 1, 0, 1500, B), NEVER);
    EXPECT_EQ(ready_at({0, NEVER - 2}, 0, 1, 1, 9, P), NEVER);  // beyond 2^64
}

TEST(TokenBucket, S4_9_itIsThereThenAndNotBefore) {
    std::mt19937_64 random(9);
    for (int round = 0; round < 20'000; ++round) {
        const Bucket bucket{random() % (4 * B), 1000};
        const uint64_t now = random() % 3000, n = random() % 9, rate = random() % 5'000'000, burst = random() % 9;
        const uint64_t at = ready_at(bucket, now, n, rate, burst, B);
        if (at == NEVER) {
            EXPECT_FALSE(bucket_has(bucket, NEVER, n, rate, burst, B));
            continue;
        }
        EXPECT_TRUE(at >= std::max<uint64_t>(now, 1000) && bucket_has(bucket, at, n, rate, burst, B));
        EXPECT_TRUE(at == std::max<uint64_t>(now, 1000) || !bucket_has(bucket, at - 1, n, rate, burst, B));
    }
}

}  // namespace
}  // namespace polysome
