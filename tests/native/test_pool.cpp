// Section 2 of STATE.md: pools. Vectors are computed by hand; the model holds the whole domain in lists.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "nf/pool.hpp"

namespace polysome {
namespace {

struct Pair {
    std::string name;
    int number;
    auto operator<=>(const Pair&) const = default;
};
struct Triple {
    int a, b, c;
    auto operator<=>(const Triple&) const = default;
};
template <class Archive>
void carry(Archive& archive, Triple& value) {
    archive(value.a, value.b, value.c);
}

using Names = std::vector<std::string>;
using Numbers = std::vector<int>;
using Single = Pool<int, None, int>;
using PairPool = Pool<Pair, None, std::string, int>;

/// Takes what there is; each is held by an entry from then on.
template <class P, class... Partition>
auto take_all(P& pool, Partition... partition) {
    std::vector<decltype(pool.take(partition...)->value)> values;
    while (const auto taken = pool.take(partition...)) {
        EXPECT_TRUE(pool.claim(*taken));
        values.push_back(taken->value);
    }
    return values;
}

template <class P, class... Partition>
auto held(P& pool, Partition... partition) {
    const auto taken = pool.take(partition...);
    EXPECT_TRUE(taken && pool.claim(*taken));
    return *taken;
}

TEST(Pool, S2_1_theDomainIsTheProductInAscendingOrder) {
    PairPool pairs(Names{"b", "a"}, Numbers{1, 2, 3});
    EXPECT_TRUE((take_all(pairs) == std::vector<Pair>{{"b", 1}, {"b", 2}, {"b", 3}, {"a", 1}, {"a", 2}, {"a", 3}}));
    Single range(PoolAxis<int>::range(5, 7));
    EXPECT_EQ(take_all(range), (Numbers{5, 6, 7}));
    Single twice(Numbers{2, 1, 2});
    EXPECT_EQ(take_all(twice), (Numbers{2, 1}));
    PairPool none(Names{}, Numbers{1});
    EXPECT_FALSE(none.take());
    EXPECT_EQ(none.available(), 0u);
}

TEST(Pool, S2_2_takeYieldsWhatIsFreeLongest) {
    PairPool pool(Names{"a", "b"}, Numbers{1, 2});
    const auto first = held(pool);
    EXPECT_TRUE((first.value == Pair{"a", 1}));
    EXPECT_TRUE((held(pool).value == Pair{"a", 2}));
    pool.release(first);
    EXPECT_TRUE((take_all(pool) == std::vector<Pair>{{"b", 1}, {"b", 2}, {"a", 1}}));
    EXPECT_FALSE(pool.take());
}

TEST(Pool, S2_3_eachPartitionHasTheWholeDomain) {
    Pool<int, uint8_t, int> pool(Numbers{0, 1});
    EXPECT_EQ(held(pool, uint8_t{6}).value, 0);
    EXPECT_EQ(take_all(pool, uint8_t{17}), (Numbers{0, 1}));
    EXPECT_EQ(take_all(pool, uint8_t{6}), Numbers{1});
    pool.release({0, 17});
    EXPECT_FALSE(pool.take(6));
    EXPECT_EQ(pool.take(17)->value, 0);
}

TEST(Pool, S2_3_partitionsOfAllKinds) {
    Pool<int, bool, int> flags(Numbers{7});
    EXPECT_TRUE(flags.take(true) && flags.take(false) && !flags.take(true));
    using Key = std::tuple<u128, bool>;
    Pool<int, Key, int> tuples(Numbers{7});
    EXPECT_TRUE(tuples.take(Key{1, true}) && tuples.take(Key{1, false}) && tuples.take(Key{u128{1} << 64, true}));
    EXPECT_FALSE(tuples.take(Key{1, true}));
    Pool<int, Triple, int> structs(Numbers{7});
    EXPECT_TRUE(structs.take(Triple{1, 2, 3}) && structs.take(Triple{1, 2, 4}) && !structs.take(Triple{1, 2, 3}));
}

TEST(Pool, S2_4_theLastEntryThatReleasesFrees) {
    Single pool(Numbers{0, 1});
    const auto zero = held(pool);
    EXPECT_TRUE(pool.claim(zero));
    pool.release(zero);
    EXPECT_EQ(pool.available(), 1u);
    pool.release(zero);
    EXPECT_EQ(pool.available(), 2u);
    EXPECT_EQ(take_all(pool), (Numbers{1, 0}));
}

TEST(Pool, S2_5_looseValuesGoBackWhenTheHandlerEnds) {
    Single pool(Numbers{0, 1, 2, 3});
    pool.take(), pool.take();
    held(pool);
    EXPECT_EQ(pool.available(), 1u);
    pool.settle();
    EXPECT_EQ(pool.available(), 3u);
    pool.settle();
    EXPECT_EQ(take_all(pool), (Numbers{3, 0, 1}));
}

TEST(Pool, S2_5_aValueTakenAgainInTheHandlerCountsFromThen) {
    Single pool(Numbers{0, 1});
    pool.release(held(pool));
    EXPECT_EQ(pool.take()->value, 1);
    EXPECT_EQ(pool.take()->value, 0);
    pool.settle();
    EXPECT_EQ(take_all(pool), (Numbers{1, 0}));
}

TEST(Pool, S2_6_aValueThatWentBackCannotBeStored) {
    Pool<int, uint8_t, int> pool(Numbers{0, 1});
    const auto zero = held(pool, uint8_t{1});
    pool.release(zero);
    EXPECT_FALSE(pool.claim(zero));
    EXPECT_FALSE(pool.claim({0, 2}));
    EXPECT_FALSE(pool.claim({9, 1}));
}

TEST(Pool, S2_7_lenCountsFreeValues) {
    Pool<Pair, uint8_t, std::string, int> pool(Names{"a", "b"}, PoolAxis<int>::range(1024, 65535));
    EXPECT_EQ(pool.available(6), 2u * 64512);
    pool.take(6);
    EXPECT_EQ(pool.available(6), 2u * 64512 - 1);
    EXPECT_EQ(pool.available(17), 2u * 64512);
}

TEST(Pool, S2_8_valuesThatLeftTheDomainAreNotGivenOut) {
    Single pool(Numbers{1, 2, 3, 4});
    const auto one = held(pool), two = held(pool);
    pool.reload(Numbers{2, 4});
    EXPECT_EQ(pool.available(), 1u);
    pool.release(one);
    pool.release(two);
    EXPECT_EQ(take_all(pool), (Numbers{4, 2}));
}

TEST(Pool, S2_9_newValuesJoinBehindAllOthers) {
    PairPool pool(Names{"5", "6"}, Numbers{1, 2});
    const auto first = held(pool);
    pool.release(held(pool));
    pool.reload(Names{"4", "5", "6"}, Numbers{1, 2});
    EXPECT_EQ(pool.available(), 5u);
    pool.release(first);
    EXPECT_TRUE((take_all(pool) == std::vector<Pair>{{"6", 1}, {"6", 2}, {"5", 2}, {"4", 1}, {"4", 2}, {"5", 1}}));
}

TEST(Pool, S2_9_aValueThatIsOutWhileItLeavesAndReturnsJoinsWhenItComesBack) {
    Single pool(Numbers{1, 2});
    const auto one = held(pool);
    pool.reload(Numbers{2});
    pool.reload(Numbers{1, 2, 3});
    EXPECT_EQ(pool.available(), 2u);
    pool.release(one);
    EXPECT_EQ(take_all(pool), (Numbers{2, 3, 1}));
}

TEST(Pool, S2_10_anUntouchedPartitionWasThereFromTheStart) {
    Pool<int, uint8_t, int> pool(Numbers{5, 6});
    pool.reload(Numbers{4, 6, 5, 7});
    pool.reload(Numbers{4, 5, 7, 6});
    EXPECT_EQ(take_all(pool, uint8_t{1}), (Numbers{5, 6, 4, 7}));
}

TEST(Pool, ADomainNeedNotBeSmall) {
    using Big = Pool<std::tuple<int, uint64_t>, None, int, uint64_t>;
    constexpr uint64_t high = uint64_t{1} << 40;
    Big pool(Numbers{1}, PoolAxis<uint64_t>::range(0, high));
    const auto zero = held(pool), one = held(pool);
    pool.reload(Numbers{5, 3, 1}, PoolAxis<uint64_t>::range(0, high));  // what was free goes on, now as the third part
    EXPECT_EQ(pool.available(), 3 * (high + 1) - 2);
    const auto two = held(pool);
    EXPECT_TRUE((two.value == std::tuple<int, uint64_t>{1, 2}));
    pool.release(one);
    pool.release(two);
    EXPECT_EQ(pool.available(), 3 * (high + 1) - 1);
    EXPECT_FALSE(pool.claim(one));
    EXPECT_TRUE(pool.claim(zero));
    EXPECT_TRUE((pool.take()->value == std::tuple<int, uint64_t>{1, 3}));
    pool.settle();
    pool.reload(Numbers{1, 2}, PoolAxis<uint64_t>::range(0, high));
    EXPECT_EQ(pool.available(), 2 * (high + 1) - 1);
    EXPECT_TRUE((pool.take()->value == std::tuple<int, uint64_t>{1, 4}));
}

/// Section 2 on lists that hold the whole domain.
template <class Item>
struct Model {
    using Value = Taken<Item, uint8_t>;
    std::vector<Item> domain;
    std::array<std::vector<Item>, 2> free = {};
    std::map<Value, int> out = {};
    std::vector<Value> loose = {};

    explicit Model(std::vector<Item> cells) : domain(cells), free{cells, cells} {}

    static bool in(const std::vector<Item>& items, const Item& item) {
        return std::find(items.begin(), items.end(), item) != items.end();
    }

    std::optional<Value> take(uint8_t partition) {
        if (free[partition].empty()) return std::nullopt;
        const Value taken{free[partition].front(), partition};
        free[partition].erase(free[partition].begin());
        out[taken] = 0;
        loose.push_back(taken);
        return taken;
    }

    bool claim(const Value& taken) {
        if (!out.contains(taken)) return false;
        ++out[taken];
        std::erase(loose, taken);
        return true;
    }

    void release(const Value& taken) {
        if (--out[taken] == 0) back(taken);
    }

    void back(const Value& taken) {
        out.erase(taken);
        if (in(domain, taken.value)) free[taken.partition].push_back(taken.value);
    }

    void settle() {
        for (const Value& taken : loose) back(taken);
        loose.clear();
    }

    void reload(std::vector<Item> cells) {
        const auto old = std::exchange(domain, std::move(cells));
        for (uint8_t partition = 0; partition < 2; ++partition) {
            std::erase_if(free[partition], [&](const Item& item) { return !in(domain, item); });
            for (const Item& item : domain)
                if (!in(old, item) && !out.contains({item, partition})) free[partition].push_back(item);
        }
    }
};

/// An axis as the pool takes it, and what is on it.
struct Axis {
    PoolAxis<int> axis;
    Numbers items;
};

Axis random_axis(std::mt19937_64& random) {
    if (random() % 2 == 0) {
        const int low = static_cast<int>(random() % 5), high = low + static_cast<int>(random() % 5) - 1;
        Axis made{PoolAxis<int>::range(low, high), {}};
        for (int i = low; i <= high; ++i) made.items.push_back(i);
        return made;
    }
    Numbers listed(random() % 6), items;
    for (int& item : listed) item = static_cast<int>(random() % 6);
    for (const int item : listed)
        if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
    return {listed, items};
}

template <size_t N>
struct Kind;
template <>
struct Kind<1> {
    using Item = int;
    using Tested = Pool<int, uint8_t, int>;
    static std::vector<int> cells(const std::array<Axis, 1>& axes) { return axes[0].items; }
};
template <>
struct Kind<2> {
    using Item = std::tuple<int, int>;
    using Tested = Pool<Item, uint8_t, int, int>;
    static std::vector<Item> cells(const std::array<Axis, 2>& axes) {
        std::vector<Item> found;
        for (const int a : axes[0].items)
            for (const int b : axes[1].items) found.emplace_back(a, b);
        return found;
    }
};
template <>
struct Kind<3> {
    using Item = Triple;
    using Tested = Pool<Triple, uint8_t, int, int, int>;
    static std::vector<Item> cells(const std::array<Axis, 3>& axes) {
        std::vector<Item> found;
        for (const int a : axes[0].items)
            for (const int b : axes[1].items)
                for (const int c : axes[2].items) found.push_back({a, b, c});
        return found;
    }
};

template <size_t N>
std::array<Axis, N> random_axes(std::mt19937_64& random) {
    std::array<Axis, N> axes;
    for (Axis& axis : axes) axis = random_axis(random);
    return axes;
}

template <class Tested>
Tested carried(Tested& from, Tested to) {
    Saver saver;
    saver(from);
    const auto bytes = saver.take();
    Loader loader(bytes);
    loader(to);
    EXPECT_TRUE(loader.done());
    return to;
}

template <size_t N>
void compare_with_model(uint64_t seed) {
    std::mt19937_64 random(seed);
    auto axes = random_axes<N>(random);
    const auto only = [](const auto& each) {
        return std::apply([](auto&... axis) { return std::tuple(axis.axis...); }, each);
    };
    typename Kind<N>::Tested pool = std::make_from_tuple<typename Kind<N>::Tested>(only(axes));
    Model<typename Kind<N>::Item> model(Kind<N>::cells(axes));
    std::vector<Taken<typename Kind<N>::Item, uint8_t>> seen;
    for (int step = 0; step < 120; ++step) {
        const auto partition = static_cast<uint8_t>(random() % 2);
        const uint64_t what = random() % 17;
        if (what == 16) {  // another process takes it over, perhaps with another domain
            pool.settle();
            model.settle();
            if (random() % 2 == 0) axes[random() % N] = random_axis(random);
            pool = carried(pool, std::make_from_tuple<typename Kind<N>::Tested>(only(random_axes<N>(random))));
            std::apply([&](auto... axis) { pool.reload(axis...); }, only(axes));
            model.reload(Kind<N>::cells(axes));
        } else if (what < 7) {
            const auto expected = model.take(partition), got = pool.take(partition);
            ASSERT_TRUE(got == expected);
            if (got) seen.push_back(*got);
        } else if (what < 12 && !seen.empty()) {
            const auto& taken = seen[random() % 3 == 0 ? random() % seen.size() : seen.size() - 1];
            ASSERT_EQ(pool.claim(taken), model.claim(taken));
        } else if (what < 14 && !seen.empty()) {
            const auto& taken = seen[random() % seen.size()];
            const auto out = model.out.find(taken);
            if (out == model.out.end() || out->second == 0) continue;
            model.release(taken);
            pool.release(taken);
        } else if (what == 14) {
            pool.settle();
            model.settle();
        } else {
            const size_t changed = random() % (N + 1);  // N: nothing
            if (changed < N) axes[changed] = random_axis(random);
            std::apply([&](auto... axis) { pool.reload(axis...); }, only(axes));
            model.reload(Kind<N>::cells(axes));
        }
        for (uint8_t p = 0; p < 2; ++p) ASSERT_EQ(pool.available(p), model.free[p].size());
    }
    pool.settle();
    model.settle();
    for (uint8_t p = 0; p < 2; ++p) ASSERT_TRUE(take_all(pool, p) == model.free[p]);
}

TEST(Pool, doesWhatTheListsDoWithOneAxis) {
    for (uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) compare_with_model<1>(seed);
}
TEST(Pool, doesWhatTheListsDoWithTwoAxes) {
    for (uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) compare_with_model<2>(seed);
}
TEST(Pool, doesWhatTheListsDoWithThreeAxes) {
    for (uint64_t seed = 0; seed < 300 && !HasFatalFailure(); ++seed) compare_with_model<3>(seed);
}

}  // namespace
}  // namespace polysome
