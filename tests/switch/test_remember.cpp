// What a table or meter remembers, and puts back: of each kind of table.
#include <gtest/gtest.h>

#include "switch/objects.hpp"

namespace polysome::p4 {
namespace {

/// A table with one key of Width bits and actions none() and set(value).
template <unsigned Width, Kind How>
struct Traits {
    using Key = std::uint64_t;
    struct Data {
        std::uint8_t action = 0;
        std::uint64_t value = 0;
    };
    static constexpr std::string_view name = "Ingress.table";
    static constexpr std::size_t size = 8;
    static constexpr bool fixed = false, default_fixed = false;
    static constexpr bool all_exact = How == Kind::exact, longest_prefix = How == Kind::lpm;
    static constexpr unsigned key_bits = Width;
    static constexpr KeyField fields[] = {{"key", Width, How}};
    static constexpr unsigned widths[] = {64};
    static constexpr std::array<ActionInfo, 2> actions{ActionInfo{"none", {}}, ActionInfo{"set", widths}};
    static Key key(const std::vector<u128>& values) { return static_cast<Key>(values[0]); }
    static std::size_t index(Key key) { return key; }
    static std::size_t hash(Key key) { return key & 3; }  // collisions, so that erasing closes gaps
    static bool matches(Key key, Key value, Key mask) { return (key & mask) == value; }
    static Data data(std::uint8_t action, const u128* params) {
        return {action, action == 1 ? static_cast<std::uint64_t>(params[0]) : 0};
    }
    static Data default_data() { return {}; }
    static std::vector<ConstEntry<Data>> entries() { return {}; }
};

template <class T>
class Remember : public testing::Test {
  protected:
    static std::array<Match, 1> of(u128 key) { return {Match{key, ~u128{0}, T::key_bits}}; }
    void add(u128 key, u128 value) { table.add(of(key), "set", std::array{value}, 5); }
    void modify(u128 key, u128 value) { table.modify(of(key), "set", std::array{value}); }
    std::uint64_t at(std::uint64_t key) { return table.apply(key).data.value; }
    Table<T> table;
};

using Kinds =
    testing::Types<Traits<8, Kind::exact>, Traits<32, Kind::exact>, Traits<8, Kind::ternary>, Traits<8, Kind::lpm>>;
TYPED_TEST_SUITE(Remember, Kinds);

TYPED_TEST(Remember, AnEntryThatWasModified) {
    this->add(1, 10), this->add(5, 50);
    const Undo undo = this->table.remember(this->of(1));
    this->modify(1, 11);
    EXPECT_EQ(this->at(1), 11u);
    undo();
    EXPECT_EQ(this->at(1), 10u);
    EXPECT_EQ(this->at(5), 50u);
    EXPECT_EQ(this->table.count(), 2u);
}

TYPED_TEST(Remember, AnEntryThatWasErased) {
    this->add(1, 10), this->add(5, 50), this->add(9, 90);
    const Undo undo = this->table.remember(this->of(5));
    this->table.erase(this->of(5));
    EXPECT_EQ(this->at(5), 0u);
    undo();
    EXPECT_EQ(this->at(1), 10u);
    EXPECT_EQ(this->at(5), 50u);
    EXPECT_EQ(this->at(9), 90u);
    EXPECT_EQ(this->table.count(), 3u);
}

TYPED_TEST(Remember, ThatThereWasNone) {
    this->add(5, 50);
    const Undo undo = this->table.remember(this->of(1));
    undo();  // nothing has changed
    EXPECT_EQ(this->table.count(), 1u);
    this->add(1, 10);
    EXPECT_TRUE(this->table.has(this->of(1)));
    undo();
    EXPECT_FALSE(this->table.has(this->of(1)));
    EXPECT_EQ(this->at(1), 0u);
    EXPECT_EQ(this->at(5), 50u);
}

TYPED_TEST(Remember, AllEntries) {
    this->add(1, 10), this->add(5, 50);
    const Undo undo = this->table.remember_all();
    this->table.clear();
    this->add(7, 70);
    undo();
    EXPECT_EQ(this->at(1), 10u);
    EXPECT_EQ(this->at(5), 50u);
    EXPECT_EQ(this->at(7), 0u);
    EXPECT_EQ(this->table.count(), 2u);
}

TYPED_TEST(Remember, RefusesAKeyThatIsNone) {
    EXPECT_THROW(this->table.has(std::span<const Match>()), std::invalid_argument);
    EXPECT_THROW(this->table.remember(this->of(u128{1} << 40)), std::invalid_argument);
}

TEST(RememberTernary, ThePlaceAmongEntriesOfOnePriority) {
    Table<Traits<8, Kind::ternary>> table;
    const std::array<Match, 1> low{Match{1, 1}}, any{Match{0, 0}};
    table.add(low, "set", std::array{u128{10}}, 5);
    table.add(any, "set", std::array{u128{20}}, 5);
    const Undo undo = table.remember(low);
    table.erase(low);
    EXPECT_EQ(table.apply(1).data.value, 20u);
    undo();
    EXPECT_EQ(table.apply(1).data.value, 10u) << "the first of equals, as before";
}

TEST(RememberMeter, RatesAndWhatItsBucketsHold) {
    Meter meter("Ingress.meter", 2, true);
    meter.set(1, {8, 1000, 8, 1000});
    EXPECT_EQ(meter.execute(1, 900, 0), Meter::green);
    const Undo undo = meter.remember(1);
    meter.set(1, {8, 5000, 8, 5000});
    EXPECT_EQ(meter.execute(1, 4000, 0), Meter::green);
    undo();
    EXPECT_EQ(meter.execute(1, 101, 0), Meter::red);
    EXPECT_EQ(meter.execute(1, 100, 0), Meter::green);
    EXPECT_THROW(meter.remember(2), std::invalid_argument);
}

}  // namespace
}  // namespace polysome::p4
