// Section 8 of STATE.md: hyperloglog. Vectors are computed by hand.
#include <gtest/gtest.h>

#include "nf/hyperloglog.hpp"
#include "nf/siphash.hpp"

namespace polysome {
namespace {

TEST(HyperLogLog, S8_2_registersKeepTheHighestRank) {
    HyperLogLog a(4), b(4);
    for (const uint64_t hash : {0x2200000000000000u, 0x2800000000000000u}) a.add(hash);  // rank 3, then 1
    b.add(0x2200000000000000);
    EXPECT_EQ(a.estimate(), b.estimate());
    for (uint64_t i = 0; i < 16; ++i) a.add(i << 60 | 1);  // rank 60 in all
    b.clear();
    for (uint64_t i = 0; i < 16; ++i) b.add(i << 60 | 1 << 1);  // rank 59: half as many
    EXPECT_EQ(a.estimate() / 2, b.estimate());
}

TEST(HyperLogLog, S8_3_theEstimate) {
    HyperLogLog sketch(4);
    EXPECT_EQ(sketch.estimate(), 0u);
    sketch.add(0x1800000000000000);
    EXPECT_EQ(sketch.estimate(), 1u);
    for (uint64_t i = 0; i < 16; ++i) sketch.add(i << 60 | uint64_t{1} << 57);  // rank 3
    EXPECT_EQ(sketch.estimate(), 92u);
    for (uint64_t i = 0; i < 16; ++i) sketch.add(i << 60 | uint64_t{1} << 56);  // rank 4
    EXPECT_EQ(sketch.estimate(), 185u);
    for (uint64_t i = 0; i < 16; ++i) sketch.add(i << 60);  // rank 61
    EXPECT_EQ(sketch.estimate(), ~uint64_t{0});
}

TEST(HyperLogLog, S8_4_clear) {
    HyperLogLog sketch(18);
    sketch.add(1);
    EXPECT_EQ(sketch.estimate(), 1u);
    sketch.clear();
    EXPECT_EQ(sketch.estimate(), 0u);
}

TEST(HyperLogLog, S8_5_theErrorIsAsStated) {
    for (const unsigned bits : {4u, 9u, 14u}) {
        for (const uint64_t n : {10u, 1000u, 50'000u}) {
            HyperLogLog sketch(bits);
            for (uint64_t key = 0; key < n; ++key)
                for (int twice = 0; twice < 2; ++twice)
                    sketch.add(siphash(3, reinterpret_cast<const uint8_t*>(&key), 8));
            const double off = static_cast<double>(sketch.estimate()) / static_cast<double>(n) - 1;
            EXPECT_LT(off * off, 9 * 1.0816 / static_cast<double>(1 << bits)) << bits << " " << n;  // 3 deviations
        }
    }
}

}  // namespace
}  // namespace polysome
