// Field writes at known places (edit.hpp), against bits and sums computed one by one.
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "nf/edit.hpp"
#include "tiny_frames.hpp"

using namespace polysome;
using tiny::Bytes;

namespace {

constexpr size_t room = 40;

Bytes random_bytes(std::mt19937_64& random, size_t size) {
    Bytes bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
}

u128 random_u128(std::mt19937_64& random) {
    switch (random() % 4) {
        case 0:
            return 0;
        case 1:
            return ~u128{0};
        default:
            return u128{random()} << 64 | random();
    }
}

template <size_t N>
using Least = std::conditional_t<
    (N > 8), u128,
    std::conditional_t<(N > 4), uint64_t,
                       std::conditional_t<(N > 2), uint32_t, std::conditional_t<(N > 1), uint16_t, uint8_t>>>>;

template <size_t N>
Least<N> random_value(std::mt19937_64& random) {
    return static_cast<Least<N>>(random_u128(random) >> (16 - N) * 8);
}

/// `width` bits from bit `bit` on, one by one.
void put_bits(Bytes& bytes, size_t bit, size_t width, u128 value) {
    for (size_t i = 0; i < width; ++i) {
        const auto mask = static_cast<uint8_t>(0x80 >> (bit + i) % 8);
        const bool one = (value >> (width - 1 - i) & 1) != 0;
        uint8_t& byte = bytes[(bit + i) / 8];
        byte = static_cast<uint8_t>(one ? byte | mask : byte & ~mask);
    }
}

/// Calls `each` with 1 to 16 as constants.
template <class Each>
void all_sizes(Each each) {
    [&]<size_t... n>(std::index_sequence<n...>) {
        (each(std::integral_constant<size_t, n + 1>{}), ...);
    }(std::make_index_sequence<16>{});
}

TEST(Edit, BytesAreLoadedAndStoredBigEndianAndNoOthersAre) {
    std::mt19937_64 random(1);
    all_sizes([&]<size_t N>(std::integral_constant<size_t, N>) {
        for (int round = 0; round < 50; ++round) {
            Bytes bytes = random_bytes(random, room);
            const size_t at = random() % (room - N);
            u128 wanted = 0;
            for (size_t i = 0; i < N; ++i) wanted = wanted << 8 | bytes[at + i];
            ASSERT_TRUE((load_bytes<Least<N>, N>(bytes.data() + at) == static_cast<Least<N>>(wanted))) << N;

            const auto value = random_value<N>(random);
            Bytes expected = bytes;
            put_bits(expected, at * 8, N * 8, value);
            store_bytes<Least<N>, N>(bytes.data() + at, value);
            ASSERT_EQ(bytes, expected) << N;
        }
    });
}

/// Writes a field of N bytes into bytes whose right checksum is known, and brings that up to date.
template <size_t N>
void whole_field(std::mt19937_64& random) {
    Bytes bytes = random_bytes(random, room);
    const size_t at = random() % (room - N);
    const uint16_t old = tiny::sum_of(bytes);
    const Bytes before = bytes;
    const auto value = random() % 4 == 0 ? load_bytes<Least<N>, N>(bytes.data() + at) : random_value<N>(random);
    const SumChange change = overwrite<Least<N>, N>(bytes.data() + at, value);
    Bytes expected = before;
    put_bits(expected, at * 8, N * 8, value);
    ASSERT_EQ(bytes, expected) << N;
    ASSERT_EQ(change.any, bytes != before);

    SumChange sum;
    at % 2 == 0 ? sum.add(change) : sum.add_odd(change);
    Bytes checksum = {static_cast<uint8_t>(old >> 8), static_cast<uint8_t>(old)};
    const SumChange own = update_checksum<false, false>(checksum.data(), sum);
    const uint16_t now = load<uint16_t>(checksum.data());
    ASSERT_EQ(now, bytes == before ? old : tiny::sum_of(bytes)) << N;
    ASSERT_EQ(own.any, now != old);
    ASSERT_EQ((own.difference - now + old) % 0xffff, 0);
}

TEST(Edit, L10_2_WholeBytesChangeTheSumAsTheyDo) {
    std::mt19937_64 random(2);
    all_sizes([&]<size_t N>(std::integral_constant<size_t, N>) {
        for (int round = 0; round < 100; ++round) whole_field<N>(random);
    });
}

/// A field of any bits within N bytes.
template <size_t N>
void bits_of_field(std::mt19937_64& random) {
    using T = Least<N>;
    // At least one bit of its first byte and of its last one.
    const size_t front = random() % 8, back = N == 1 ? random() % (8 - front) : random() % 8;
    const size_t width = N * 8 - front - back;
    const T ones = static_cast<T>(width == sizeof(T) * 8 ? ~T{0} : static_cast<T>((T{1} << width) - 1));
    Bytes bytes = random_bytes(random, room);
    const size_t at = random() % (room - N);
    const Bytes before = bytes;
    const T value = static_cast<T>(random_u128(random)) & ones;
    const SumChange change =
        overwrite_bits<T, N>(bytes.data() + at, static_cast<unsigned>(back), static_cast<T>(ones << back), value);
    Bytes expected = before;
    put_bits(expected, at * 8 + front, width, value);
    ASSERT_EQ(bytes, expected) << N << " bytes, without " << front << " and " << back << " bits";
    ASSERT_EQ(change.any, bytes != before);
    const int64_t difference = change.difference * (at % 2 == 0 ? 1 : 256);
    ASSERT_EQ((int64_t{tiny::sum_of(before)} - tiny::sum_of(bytes) - difference) % 0xffff, 0);
}

TEST(Edit, L10_2_BitsLeaveThoseBesideThem) {
    std::mt19937_64 random(3);
    all_sizes([&]<size_t N>(std::integral_constant<size_t, N>) {
        for (int round = 0; round < 100; ++round) bits_of_field<N>(random);
    });
}

TEST(Edit, L10_2_SeveralChangesAddUp) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 200; ++round) {
        Bytes bytes = random_bytes(random, room);
        Bytes checksum = {0, 0};
        tiny::put16(checksum, 0, tiny::sum_of(bytes));
        SumChange sum;
        sum.add_odd(overwrite<uint64_t, 6>(bytes.data() + 1, random() >> 16));
        sum.add(overwrite<u128, 16>(bytes.data() + 8, random_u128(random)));
        sum.add_odd(overwrite<uint8_t, 1>(bytes.data() + 7, static_cast<uint8_t>(random())));
        sum.add(overwrite_bits<uint16_t, 2>(bytes.data() + 30, 5, 0x1fe0, static_cast<uint16_t>(random() & 0xff)));
        update_checksum<false, false>(checksum.data(), sum);
        ASSERT_EQ(load<uint16_t>(checksum.data()), tiny::sum_of(bytes));
    }
}

uint16_t updated_with(uint16_t old, SumChange change, bool zero_is_none, bool& any) {
    Bytes bytes = {0, 0};
    tiny::put16(bytes, 0, old);
    any = zero_is_none ? update_checksum<true, true>(bytes.data(), change).any
                       : update_checksum<false, false>(bytes.data(), change).any;
    return load<uint16_t>(bytes.data());
}

TEST(Edit, L10_2_ZeroIsNoneStaysAndNoneIsMade) {
    bool any = false;
    EXPECT_EQ(updated_with(0, {5, true}, true, any), 0);
    EXPECT_FALSE(any);
    EXPECT_EQ(updated_with(0, {5, true}, false, any), 0xffff - 5);
    EXPECT_TRUE(any);
    EXPECT_EQ(updated_with(5, {5, true}, true, any), 0xffff);
    EXPECT_TRUE(any);
    EXPECT_EQ(updated_with(5, {5, true}, false, any), 0);
    EXPECT_TRUE(any);
}

/// Over what may be zeros only: 0 is updated like any value, and none is made.
TEST(Edit, L10_2_WhatMayBeZerosNeverBecomesZero) {
    for (const auto& [old, difference, now] :
         {std::array{0, 5, 0xffff - 5}, {5, 5, 0xffff}, {0xffff, 0xffff, 0xffff}}) {
        Bytes bytes = {0, 0};
        tiny::put16(bytes, 0, static_cast<uint16_t>(old));
        update_checksum<false, true>(bytes.data(), {difference, true});
        EXPECT_EQ(load<uint16_t>(bytes.data()), now);
    }
}

TEST(Edit, L10_2_FfffBecomesZeroOnlyIfSomethingChanged) {
    bool any = true;
    EXPECT_EQ(updated_with(0xffff, {0, false}, false, any), 0xffff);
    EXPECT_FALSE(any);
    // Bytes changed, and their sum did not: 0000 became ffff.
    EXPECT_EQ(updated_with(0xffff, {0xffff, true}, false, any), 0);
    EXPECT_TRUE(any);
    EXPECT_EQ(updated_with(0xffff, {0xffff, true}, true, any), 0xffff);
    EXPECT_FALSE(any);
}

template <bool zero_is_none, bool never_zero>
void either_is_as_the_kind_that_is_known() {
    for (const SumChange change :
         {SumChange{}, SumChange{0, true}, SumChange{1, true}, SumChange{-0xffff, true}, SumChange{0x1234567, true}}) {
        for (unsigned old = 0; old <= 0xffff; ++old) {
            std::array<uint8_t, 2> known, either;
            store(known.data(), static_cast<uint16_t>(old));
            store(either.data(), static_cast<uint16_t>(old));
            update_checksum<zero_is_none, never_zero>(known.data(), change);
            update_either(either.data(), change, zero_is_none, never_zero);
            ASSERT_EQ(known, either) << old << " by " << change.difference;
        }
    }
}

TEST(Edit, EveryChecksumIsUpdatedTheSameWhenItsKindIsKnownLate) {
    either_is_as_the_kind_that_is_known<false, false>();
    either_is_as_the_kind_that_is_known<false, true>();
    either_is_as_the_kind_that_is_known<true, false>();
    either_is_as_the_kind_that_is_known<true, true>();
    EXPECT_EQ(either(true, {1, true}, {2, false}).difference, 1);
    EXPECT_TRUE(either(true, {1, true}, {2, false}).any);
    EXPECT_EQ(either(false, {1, true}, {2, false}).difference, 2);
    EXPECT_FALSE(either(false, {1, true}, {2, false}).any);
}

}  // namespace
