/// Prints how much memory state takes, for test_memory.py, whose main() has the NFs' state.
///
/// A line for each: its name, bytes of an entry, bytes in all (0: not said).

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include "nf/generated.hpp"

namespace polysome::test {

using Sizes = std::vector<uint64_t>;

inline void print(const char* name, size_t entry, size_t memory) { std::printf("%s %zu %zu\n", name, entry, memory); }

/// Bytes that the process has in memory.
inline size_t resident() {
    size_t all = 0, here = 0;
    FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu %zu", &all, &here) != 2) std::abort();
    std::fclose(file);
    return here * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

template <class T>
struct Show {  // a scalar
    static void run(const char* name, const Sizes&) { print(name, sizeof(T), sizeof(T)); }
};

template <class T>
struct Show<std::vector<T>> {
    static void run(const char* name, const Sizes& sizes) { print(name, sizeof(T), sizes[0] * sizeof(T)); }
};
template <>
struct Show<std::vector<bool>> {
    static void run(const char* name, const Sizes& sizes) {
        print(name, 0, std::vector<bool>(sizes[0]).capacity() / 8);
    }
};

template <class Spec>
struct Show<FlowMap<Spec>> {
    static void run(const char* name, const Sizes& sizes) {
        const Clock clock;
        const FlowMap<Spec> map(Spec{nullptr}, clock, sizes[0], 1, false);
        print(name, map.bytes_per_entry(), map.memory() - sizeof(map));
    }
};

template <class Item, class Partition, class... Axis>
struct Show<Pool<Item, Partition, Axis...>> {
    static void run(const char* name, const Sizes& sizes) {
        const uint64_t* next = sizes.data();
        const auto axis = [&]<class T>(T) {
            next += 2;
            return PoolAxis<T>::range(static_cast<T>(next[-2]), static_cast<T>(next[-1]));
        };
        std::tuple<PoolAxis<Axis>...> axes{axis(Axis{})...};  // braces: in this order
        auto pool = std::make_from_tuple<Pool<Item, Partition, Axis...>>(std::move(axes));
        while (pool.take()) {
        }
        pool.settle();
        print(name, 0, pool.memory());
    }
};

template <>
struct Show<CountMin> {
    static void run(const char* name, const Sizes& sizes) { print(name, 0, CountMin(sizes[0], sizes[1]).memory()); }
};
template <>
struct Show<Bloom> {
    static void run(const char* name, const Sizes& sizes) { print(name, 0, Bloom(sizes[0], sizes[1]).memory()); }
};
template <>
struct Show<HyperLogLog> {
    static void run(const char* name, const Sizes& sizes) {
        print(name, 0, HyperLogLog(static_cast<unsigned>(sizes[0])).memory());
    }
};
template <class Key>
struct Show<TopK<Key>> {
    static void run(const char* name, const Sizes& sizes) {
        TopK<Key> top(sizes[0], sizes[1]);
        for (uint64_t i = 0; i < sizes[1]; ++i) top.add(top.sought(Key{i}));
        print(name, 0, top.memory());
    }
};

/// By how much the process grows when the map is filled within two thirds of the time that its entries live, and what
/// the map then says that it takes.
template <class Map>
struct Fill;
template <class Spec>
struct Fill<FlowMap<Spec>> {
    /// A key that is not long.
    template <size_t W>
    static std::array<uint64_t, W> numbered(std::array<uint64_t, W> key, uint64_t i) {
        key[0] = i;
        return key;
    }
    template <size_t W, KeyPart... parts>
    static CompactKey<W, parts...> numbered(CompactKey<W, parts...>, uint64_t i) {
        std::array<uint64_t, W> words{};
        words[1] = uint64_t{0xffff} << 32 | i;
        return CompactKey<W, parts...>(words);
    }

    static void run(const char* name, uint64_t capacity) {
        constexpr uint64_t life = Spec::has_idle ? Spec::idle_max : Spec::age_max;
        const size_t before = resident();
        Clock clock{1'000'000'000};
        FlowMap<Spec> map(Spec{nullptr}, clock, capacity, 1, false);
        for (uint64_t i = 0; i < capacity; ++i) {
            if (map.put(map.sought(numbered(typename Spec::Words{}, i)), {}).what != Put::stored) std::abort();
            clock.now += life / 3 * 2 / capacity;
        }
        print(name, resident() - before, map.memory());
    }
};

}  // namespace polysome::test
