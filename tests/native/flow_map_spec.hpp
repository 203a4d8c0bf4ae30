/// A flow map for tests that logs all it tells others, with a clock that ends what is due.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "nf/flow_map.hpp"

namespace polysome::test {

/// `number` is also the key in the index, `row` what alive asks about.
struct Val {
    uint32_t number = 0;
    uint32_t row = 0;
    auto operator<=>(const Val&) const = default;
};
template <class Archive>
void carry(Archive& archive, Val& value) {
    archive(value.number, value.row);
}

/// One thing that a map told: claim, release or the End.
struct Told {
    std::string what;
    uint64_t time = 0;
    uint64_t key = 0;
    Val value;
    bool operator==(const Told&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Told& t) {
        return out << t.what << "@" << t.time << " " << t.key << "=" << t.value.number << "/" << t.value.row;
    }
};
using Log = std::vector<Told>;

inline std::string name_of(End why) {
    static const char* const names[] = {"idle", "age", "evicted", "removed"};
    return names[static_cast<int>(why)];
}

using Span = std::function<uint64_t(uint64_t key, Val value)>;

/// What surrounds a map.
struct World {
    Clock clock;
    Log log;
    std::set<uint32_t> gone;  // rows
    Span idle = [](uint64_t, Val) { return uint64_t{10}; };
    Span age = idle;
    std::function<bool(Val)> may_claim = [](Val) { return true; };
    std::function<void(uint64_t key, Val value, End why)> on_end = [](uint64_t, Val, End) {};
    std::function<uint64_t(uint64_t key, Val value)> index = [](uint64_t, Val value) { return uint64_t{value.number}; };
};

enum : unsigned {
    HasIdle = 1,
    HasAge = 2,
    IdleVaries = 4,
    AgeVaries = 8,
    HasAlive = 16,
    HasOwned = 32,
    HasIndex = 64,
    Steady = 128
};

/// `max`: what the wheel is made for.
template <unsigned flags, WhenFull policy, uint64_t max = 100>
struct Spec {
    using Words = std::array<uint64_t, 1>;
    using Value = Val;
    static constexpr bool has_idle = flags & HasIdle, has_age = flags & HasAge;
    static constexpr bool idle_varies = flags & IdleVaries, age_varies = flags & AgeVaries;
    static constexpr bool steady = flags & Steady;
    static constexpr bool has_alive = flags & HasAlive, has_owned = flags & HasOwned, has_on_end = true;
    static constexpr WhenFull when_full = policy;
    static constexpr uint64_t idle_max = has_idle ? max : 0, age_max = has_age ? max : 0;
    using Indexes = std::conditional_t<(flags & HasIndex) != 0, std::tuple<std::array<uint64_t, 1>>, std::tuple<>>;

    World* world;

    uint64_t idle(const Words& key, const Val& value) const { return world->idle(key[0], value); }
    uint64_t age(const Words& key, const Val& value) const { return world->age(key[0], value); }
    bool alive(const Val& value) const { return !world->gone.contains(value.row); }
    bool claim(const Val& value) {
        if (!world->may_claim(value)) return false;
        world->log.push_back({"claim", 0, 0, value});
        return true;
    }
    void release(const Val& value) { world->log.push_back({"release", 0, 0, value}); }
    void on_end(const Words& key, const Val& value, End why) {
        world->log.push_back({name_of(why), world->clock.now, key[0], value});
        world->on_end(key[0], value, why);
    }
    template <size_t I>
    std::array<uint64_t, 1> index_words(const Words& key, const Val& value) const {
        return {world->index(key[0], value)};
    }
};

/// The map with plain keys.
template <class S>
struct Bench {
    World world;
    FlowMap<S> map;

    explicit Bench(uint64_t capacity = 2, bool collide = false)
        : map(S{&world}, world.clock, capacity, 12345, collide) {}

    /// Lets time pass.
    Bench& at(uint64_t time) {
        for (uint64_t due; (due = map.next_due(time)) != NEVER;) {
            world.clock.now = due;
            map.expire_one();
        }
        world.clock.now = time;
        return *this;
    }
    /// A key with the entry that was expected for it some time ago, as packets of a batch have it.
    auto ask(uint64_t key) const {
        auto sought = map.sought({key});
        uint32_t& at = expected_[key];
        if (asked_++ % 3 == 0) {
            map.expect(sought);
            at = sought.at;
        }
        sought.at = at;
        return sought;
    }
    auto ask_index(uint64_t word) const {
        auto sought = map.template index_sought<0>({word});
        uint32_t& at = index_expected_[word];
        if (asked_++ % 3 == 0) {
            map.template index_expect<0>(sought);
            at = sought.at;
        }
        sought.at = at;
        return sought;
    }
    PutResult write(uint64_t key, Val value) { return map.put(ask(key), value); }
    Put put(uint64_t key, Val value) { return write(key, value).what; }
    Put put(uint64_t key, uint32_t number) { return put(key, Val{number, 0}); }
    Put remove(uint64_t key) { return map.remove(ask(key)).what; }
    uint32_t handle(uint64_t key) const { return map.find(ask(key)); }
    bool contains(uint64_t key) const { return handle(key) != map.absent; }
    /// The number, or -1 if absent; a use.
    int64_t get(uint64_t key) {
        const uint32_t n = handle(key);
        if (n == map.absent) return -1;
        map.use(n);
        return map.value(n).number;
    }
    uint32_t by_index(uint64_t word) const { return map.template find_index<0>(ask_index(word)); }
    bool has(uint64_t word) const { return by_index(word) != map.absent; }
    /// The key, or -1 if absent; a use.
    int64_t get_index(uint64_t word) {
        const uint32_t n = by_index(word);
        if (n == map.absent) return -1;
        map.use(n);
        return static_cast<int64_t>(map.key(n)[0]);
    }
    using Items = std::vector<std::pair<uint64_t, uint32_t>>;
    Items items() const {
        Items items;
        for (const auto& [key, value] : map.items()) items.emplace_back(key[0], value.number);
        return items;
    }
    /// Another process goes on with what the map holds; is all of it taken?
    bool carried(uint64_t capacity, uint64_t seed, bool collide) {
        Saver saver;
        saver(map);
        const auto bytes = saver.take();
        std::destroy_at(&map);
        std::construct_at(&map, S{&world}, world.clock, capacity, seed, collide);
        Loader loader(bytes);
        loader(map);
        expected_.clear();
        index_expected_.clear();
        return loader.done();
    }
    /// What ended, without claims and releases.
    Log ended() const {
        Log ended;
        for (const Told& told : world.log) {
            if (told.what != "claim" && told.what != "release") ended.push_back(told);
        }
        return ended;
    }
    /// "+1" for a claim of number 1, "-1" for its release.
    std::string owned() const {
        std::string owned;
        for (const Told& told : world.log) {
            if (told.what == "claim") owned += "+" + std::to_string(told.value.number);
            if (told.what == "release") owned += "-" + std::to_string(told.value.number);
        }
        return owned;
    }

  private:
    mutable std::map<uint64_t, uint32_t> expected_, index_expected_;
    mutable unsigned asked_ = 0;
};

}  // namespace polysome::test
