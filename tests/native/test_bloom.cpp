// Section 7 of STATE.md: bloom. Vectors are computed by hand.
#include <gtest/gtest.h>

#include "nf/bloom.hpp"

namespace polysome {
namespace {

TEST(Bloom, S7_2_aKeyIsInIfAllItsBitsAreSet) {
    Bloom bloom(8, 2);
    EXPECT_FALSE(bloom.contains(0x4000000080000000));
    bloom.add(0x4000000080000000);  // places 2 and 6
    EXPECT_TRUE(bloom.contains(0x4000000080000000));
    EXPECT_TRUE(bloom.contains(0xc000000080000000));   // 6 and 2: a wrong yes
    EXPECT_FALSE(bloom.contains(0));                   // 0 and 0
    EXPECT_FALSE(bloom.contains(0x4000000040000000));  // 2 and 4
}

TEST(Bloom, S7_3_clear) {
    Bloom bloom(8, 2);
    bloom.add(0);
    bloom.clear();
    EXPECT_FALSE(bloom.contains(0));
}

TEST(Bloom, S7_4_whatWasAddedIsInAndFewOthersAre) {
    Bloom bloom(10099, 7);  // 1000 keys, 1 %
    const auto hash = [](uint64_t key) { return siphash(1, reinterpret_cast<const uint8_t*>(&key), 8); };
    for (uint64_t key = 0; key < 1000; ++key) bloom.add(hash(key));
    for (uint64_t key = 0; key < 1000; ++key) EXPECT_TRUE(bloom.contains(hash(key)));
    int wrong = 0;
    for (uint64_t key = 1000; key < 21'000; ++key) wrong += bloom.contains(hash(key));
    EXPECT_LT(wrong, 250);  // 200 are expected
}

TEST(Bloom, PrefetchingChangesNothing) {
    Bloom bloom(100, 3);
    for (const uint64_t hash : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}}) {
        bloom.prefetch(hash);
        EXPECT_FALSE(bloom.contains(hash));
    }
}

}  // namespace
}  // namespace polysome
