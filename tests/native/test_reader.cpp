// The binary form of a configuration, and the canonical bytes of STATE.md S5.3.
#include <gtest/gtest.h>

#include "nf/canonical.hpp"
#include "nf/reader.hpp"

namespace generated {

struct Backend {
    polysome::u128 address;
    uint16_t port;
    auto operator<=>(const Backend&) const = default;
};

void read(polysome::Reader& reader, Backend& value) {
    reader.get(value.address);
    reader.get(value.port);
}

}  // namespace generated

namespace polysome {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(Reader, IntegersAreBigEndianAndAsWideAsTheirType) {
    const Bytes bytes = {1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe};
    Reader reader(bytes);
    EXPECT_EQ(reader.next<uint8_t>(), 1);
    EXPECT_EQ(reader.next<uint16_t>(), 0x0203);
    EXPECT_FALSE(reader.done());
    EXPECT_EQ(reader.next<int64_t>(), -2);
    EXPECT_TRUE(reader.done());
    Bytes wide(16);
    wide[0] = 0x20;
    wide[15] = 1;
    EXPECT_TRUE(Reader(wide).next<u128>() == (u128{0x20} << 120 | 1));
}

TEST(Reader, NothingIsReadPastTheEndAndAFaultStays) {
    const Bytes bytes = {1, 2, 3};
    Reader reader(bytes);
    EXPECT_EQ(reader.next<uint32_t>(), 0u);
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.next<uint8_t>(), 0);
    EXPECT_FALSE(reader.done());
}

TEST(Reader, BooleansAreZeroOrOne) {
    const Bytes bytes = {0, 1, 2};
    Reader reader(bytes);
    EXPECT_FALSE(reader.next<bool>());
    EXPECT_TRUE(reader.next<bool>());
    EXPECT_TRUE(reader.ok());
    EXPECT_FALSE(reader.next<bool>());
    EXPECT_FALSE(reader.ok());
}

TEST(Reader, ListsOfStructsAndNestedLists) {
    Bytes bytes = {0, 0, 0, 2};
    for (uint8_t i = 1; i <= 2; ++i) {
        bytes.insert(bytes.end(), 15, 0);
        bytes.insert(bytes.end(), {i, 0, i});
    }
    Reader reader(bytes);
    const auto backends = reader.next<std::vector<generated::Backend>>();
    EXPECT_TRUE(reader.done());
    ASSERT_EQ(backends.size(), 2u);
    EXPECT_TRUE((backends[1] == generated::Backend{2, 2}));

    const Bytes nested = {0, 0, 0, 2, 0, 0, 0, 1, 7, 0, 0, 0, 0};
    EXPECT_EQ(Reader(nested).next<std::vector<std::vector<uint8_t>>>(), (std::vector<std::vector<uint8_t>>{{7}, {}}));
    const Bytes pairs = {0, 0, 0, 1, 7, 0, 9, 1};
    using Entry = std::pair<uint8_t, std::tuple<uint16_t, bool>>;
    EXPECT_EQ(Reader(pairs).next<std::vector<Entry>>(), std::vector<Entry>({{7, {9, true}}}));
}

TEST(Reader, ACountAboveTheBytesLeftIsRefusedBeforeAnythingIsStored) {
    for (const Bytes& bytes : {Bytes{0xff, 0xff, 0xff, 0xff, 1}, Bytes{0, 0, 0, 2, 1}, Bytes{0, 0, 0}}) {
        Reader reader(bytes);
        EXPECT_TRUE(reader.next<std::vector<uint8_t>>().empty());
        EXPECT_FALSE(reader.ok());
    }
}

Bytes prefix(uint8_t bits, uint8_t length, std::initializer_list<uint8_t> tail) {
    Bytes bytes = {bits, length};
    bytes.insert(bytes.end(), 16 - tail.size(), 0);
    bytes.insert(bytes.end(), tail);
    return bytes;
}

TEST(Reader, Prefixes) {
    EXPECT_TRUE((Reader(prefix(32, 8, {10, 0, 0, 0})).next<Prefix>() == Prefix{0x0a000000, 32, 8}));
    EXPECT_TRUE((Reader(prefix(128, 128, {1})).next<Prefix>() == Prefix{1, 128, 128}));
    EXPECT_TRUE((Reader(prefix(32, 0, {})).next<Prefix>() == Prefix{0, 32, 0}));
    for (const Bytes& bytes : {prefix(32, 33, {}), prefix(64, 8, {}), prefix(32, 8, {10, 1, 0, 0}), prefix(128, 0, {1}),
                               prefix(32, 8, {1, 10, 0, 0, 0}), prefix(32, 0, {1}), Bytes{32, 8, 0}}) {
        Reader reader(bytes);
        EXPECT_TRUE(reader.next<Prefix>() == Prefix{});
        EXPECT_FALSE(reader.ok());
    }
}

TEST(Canonical, S5_3_membersAreBigEndianOneAfterTheOther) {
    uint8_t buffer[64];
    Writer writer(buffer);
    writer.put(0x0102, 2);
    writer.put(1, 1);
    writer.put(u128{0x20} << 120 | 1, 16);
    canonical(writer, Prefix{0x0a000000, 32, 8});
    canonical(writer, Prefix{u128{1} << 127, 128, 1});
    Bytes expected = {1, 2, 1, 0x20};
    expected.insert(expected.end(), 14, 0);
    expected.insert(expected.end(), {1, 10, 0, 0, 0, 8, 0x80});
    expected.insert(expected.end(), 15, 0);
    expected.push_back(1);
    EXPECT_EQ(Bytes(writer.data(), writer.data() + writer.size()), expected);
}

}  // namespace
}  // namespace polysome
