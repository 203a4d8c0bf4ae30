#include <gtest/gtest.h>

#include "nf/archive.hpp"

namespace polysome {
namespace {

struct Everything {
    bool yes = false;
    uint16_t small = 0;
    u128 large = 0;
    End why = End::idle;
    Row row;
    Prefix prefix;
    Bucket bucket;
    Taken<uint16_t, std::tuple<uint8_t, bool>> taken;
    std::pair<uint8_t, std::array<uint32_t, 2>> pair;
    std::vector<bool> bits;
    std::vector<uint32_t> words;
    std::vector<std::pair<uint8_t, uint64_t>> pairs;
    std::deque<uint16_t> queue;
    std::list<uint8_t> list;
    std::set<uint32_t> set;
    std::map<uint8_t, uint32_t> map;

    template <class Archive>
    void carry(Archive& archive) {
        archive(yes, small, large, why, row, prefix, bucket, taken, pair, bits, words, pairs, queue, list, set, map);
    }
    auto operator<=>(const Everything&) const = default;
};

Everything filled() {
    Everything all;
    all.yes = true;
    all.small = 0x1234;
    all.large = ~u128{0} - 5;
    all.why = End::removed;
    all.row.id = 7;
    all.prefix = {.value = 0x0a000000, .bits = 32, .length = 8};
    all.bucket = {.tokens = u128{3} << 70, .last = 99};
    all.taken = {.value = 80, .partition = {4, true}};
    all.pair = {9, {1, 2}};
    all.bits = {true, false, true};
    all.words = {1, 2, 3};
    all.pairs = {{1, 10}, {2, 20}};
    all.queue = {5, 6};
    all.list = {7, 8};
    all.set = {3, 1};
    all.map = {{1, 11}, {2, 22}};
    return all;
}

std::vector<uint8_t> saved(Everything& all) {
    Saver saver;
    saver(all);
    return saver.take();
}

TEST(Archive, CarriesAllTypes) {
    Everything all = filled(), empty, found = filled();
    for (Everything* from : {&all, &empty}) {
        const auto bytes = saved(*from);
        Loader loader(bytes);
        loader(found);
        EXPECT_TRUE(loader.done());
        EXPECT_EQ(found, *from);
    }
}

TEST(Archive, WhatIsCutOffAnywhereIsAFault) {
    Everything all = filled();
    const auto bytes = saved(all);
    for (size_t n = 0; n < bytes.size(); ++n) {
        Everything found;
        Loader loader(std::span(bytes).first(n));
        loader(found);
        EXPECT_FALSE(loader.ok()) << n;
        EXPECT_FALSE(loader.done()) << n;
    }
}

TEST(Archive, WhatIsTooLongIsNotDone) {
    Everything all = filled(), found;
    auto bytes = saved(all);
    bytes.push_back(0);
    Loader loader(bytes);
    loader(found);
    EXPECT_TRUE(loader.ok());
    EXPECT_FALSE(loader.done());
}

TEST(Archive, ACountAboveWhatIsLeftIsAFault) {
    for (const uint64_t count : {uint64_t{2}, uint64_t{1} << 40, ~uint64_t{0}}) {
        Saver saver;
        saver.count(count);
        const auto bytes = saver.take();
        std::vector<uint32_t> words;
        std::map<uint8_t, uint8_t> map;
        Loader one(bytes), other(bytes);
        one(words);
        other(map);
        EXPECT_FALSE(one.ok() || other.ok());
        EXPECT_TRUE(words.empty() && map.empty());
    }
}

TEST(Archive, ANumberThatMustBeTheSame) {
    for (const uint64_t number : {uint64_t{6}, uint64_t{7}, uint64_t{8}}) {
        Saver saver;
        saver.same(number);
        const auto bytes = saver.take();
        Loader loader(bytes);
        loader.same(7);
        EXPECT_EQ(loader.done(), number == 7);
    }
}

}  // namespace
}  // namespace polysome
