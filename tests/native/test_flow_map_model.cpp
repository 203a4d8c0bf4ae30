/// The flow map against the rules of STATE.md, section 1, written one after the other on a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

#include "flow_map_spec.hpp"

namespace polysome::test {
namespace {

/// The reference: a list in insertion order that is searched from end to end, with the World it tells.
template <class S>
struct Model {
    struct Entry {
        uint64_t key;
        Val value;
        uint64_t used, written;
        u128 idle, age;
        u128 due() const { return std::min(used + idle, written + age); }
    };
    static constexpr bool indexed = std::tuple_size_v<typename S::Indexes> > 0;

    World world;
    uint64_t capacity;
    unsigned depth = 0;
    std::list<Entry> entries;

    explicit Model(uint64_t capacity) : capacity(capacity) {}

    Entry* lookup(uint64_t key) {
        for (Entry& e : entries) {
            if (e.key == key) return &e;
        }
        return nullptr;
    }
    bool live(const Entry& e) const { return !S::has_alive || !world.gone.contains(e.value.row); }
    Entry* find(uint64_t key) {
        Entry* e = lookup(key);
        return e != nullptr && live(*e) ? e : nullptr;
    }
    Entry* by_index(uint64_t word) {
        for (Entry& e : entries) {
            if (live(e) && world.index(e.key, e.value) == word) return &e;
        }
        return nullptr;
    }
    u128 idle(uint64_t key, Val value) const {
        return S::has_idle ? std::max<u128>(1, world.idle(key, value)) : u128{1} << 64;
    }
    u128 age(uint64_t key, Val value) const {
        return S::has_age ? std::max<u128>(1, world.age(key, value)) : u128{1} << 64;
    }
    void use(Entry* e) {
        if (e == nullptr) return;
        e->used = world.clock.now;
        e->idle = idle(e->key, e->value);
    }
    bool taken(uint64_t key, Val value) {
        if (!indexed) return false;
        const Entry* holder = by_index(world.index(key, value));
        return holder != nullptr && holder->key != key;
    }
    bool full(uint64_t key) { return lookup(key) == nullptr && entries.size() >= capacity; }

    void release(Val value) {
        if (S::has_owned) world.log.push_back({"release", 0, 0, value});
    }
    Put put(uint64_t key, Val value) {
        if (taken(key, value)) return Put::index_taken;
        const bool evicts = full(key);
        if (evicts && S::when_full != WhenFull::evict) return S::when_full == WhenFull::drop ? Put::full : Put::passed;
        if (S::has_owned) {
            if (!world.may_claim(value)) return Put::not_taken;
            world.log.push_back({"claim", 0, 0, value});
        }
        if (evicts) {
            const bool by_write = !S::has_idle && S::has_age;
            const auto oldest = std::min_element(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
                return by_write ? a.written < b.written : a.used < b.used;
            });
            Put what = end(&*oldest, End::evicted);
            if (what == Put::stored && taken(key, value)) what = Put::index_taken;
            if (what == Put::stored && full(key)) what = Put::full;
            if (what != Put::stored) return release(value), what;
        }
        const uint64_t now = world.clock.now;
        if (Entry* e = lookup(key)) {
            const Val old = e->value;
            *e = {key, value, now, now, idle(key, value), age(key, value)};
            release(old);
        } else {
            entries.push_back({key, value, now, now, idle(key, value), age(key, value)});
        }
        return Put::stored;
    }
    Put remove(uint64_t key) {
        Entry* e = lookup(key);
        return e == nullptr ? Put::stored : end(e, End::removed);
    }
    Put end(const Entry* entry, End why) {
        if (depth == 8) return Put::nested;
        const Entry gone = *entry;
        entries.remove_if([&](const Entry& e) { return e.key == gone.key; });
        release(gone.value);
        ++depth;
        world.log.push_back({name_of(why), world.clock.now, gone.key, gone.value});
        world.on_end(gone.key, gone.value, why);
        --depth;
        return Put::stored;
    }
    const Entry* next() const {
        const Entry* next = nullptr;
        for (const Entry& e : entries) {
            if (e.due() < NEVER && (next == nullptr || e.due() < next->due())) next = &e;
        }
        return next;
    }
    void expire_one() {
        const Entry* e = next();
        end(e, e->used + e->idle == e->due() ? End::idle : End::age);
    }
};

/// One random run of both, side by side.
template <class S>
class Run {
  public:
    /// `size` times as many keys as few, and entries that live as much longer.
    Run(uint64_t seed, uint64_t scale, bool busy_end, uint64_t size = 1)
        : random_(seed),
          scale_(scale),
          life_(scale * size),
          keys_(size * (3 + pick(12))),
          capacity_(1 + pick(keys_)),
          bench_(capacity_, pick(4) == 0),
          model_(capacity_) {
        dress(bench_.world, bench_, busy_end);
        dress(model_.world, model_, busy_end);
    }

    void steps(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            step();
            ASSERT_EQ(bench_.world.log, model_.world.log) << "step " << i;
            ASSERT_EQ(bench_.items(), items()) << "step " << i;
            ASSERT_EQ(bench_.map.size(), model_.entries.size()) << "step " << i;
            bench_.world.log.clear();
            model_.world.log.clear();
        }
    }

  private:
    uint64_t pick(uint64_t n) { return random_() % n; }

    /// The same behaviour for both worlds; `on_end` writes to the own map.
    template <class Map>
    void dress(World& world, Map& map, bool busy_end) {
        const uint64_t scale = life_;
        world.idle = [scale, &world](uint64_t, Val v) {
            return (S::idle_varies ? v.number * 3 % 11 * (S::steady ? 1 : 1 + world.clock.now % 2) : 5) * scale;
        };
        world.age = [scale](uint64_t key, Val v) { return (S::age_varies ? (v.number + key) * 5 % 13 : 9) * scale; };
        world.may_claim = [](Val v) { return v.row != 3; };
        if (!busy_end) return;
        world.on_end = [&map, keys = keys_](uint64_t key, Val v, End why) {
            if (v.number % 3 == 0) map.put((key + 1) % keys, Val{v.number + 1, v.row});
            if (v.number % 3 == 1) map.remove((key + 2) % keys);
            if (why == End::evicted && v.number == 2) map.put(key, Val{4, 0});
        };
    }

    typename Bench<S>::Items items() const {
        typename Bench<S>::Items items;
        for (const auto& e : model_.entries) {
            if (model_.live(e)) items.emplace_back(e.key, e.value.number);
        }
        return items;
    }

    void step() {
        const uint64_t key = pick(keys_), number = pick(7), row = pick(4);
        switch (pick(13)) {
            case 12:
                ASSERT_TRUE(bench_.carried(capacity_, random_(), pick(4) == 0));
                break;
            case 0:
            case 1:
            case 2:
            case 3: {
                const Val value{static_cast<uint32_t>(number), static_cast<uint32_t>(row + 4 * epoch_)};
                ASSERT_EQ(bench_.put(key, value), model_.put(key, value));
                break;
            }
            case 4:
            case 5: {
                const auto* e = model_.find(key);
                ASSERT_EQ(bench_.get(key), e == nullptr ? -1 : int64_t{e->value.number});
                model_.use(model_.find(key));
                break;
            }
            case 6:
                ASSERT_EQ(bench_.contains(key), model_.find(key) != nullptr);
                break;
            case 7:
                if constexpr (Model<S>::indexed) {
                    auto* e = model_.by_index(number);
                    ASSERT_EQ(bench_.has(number), e != nullptr);
                    ASSERT_EQ(bench_.get_index(number), e == nullptr ? -1 : static_cast<int64_t>(e->key));
                    model_.use(e);
                }
                break;
            case 8:
                ASSERT_EQ(bench_.remove(key), model_.remove(key));
                break;
            case 9:
                if (pick(4) == 0) {
                    for (uint32_t gone = 0; gone < 2; ++gone) {
                        bench_.world.gone.insert(gone + 4 * epoch_);
                        model_.world.gone.insert(gone + 4 * epoch_);
                    }
                    ++epoch_;
                }
                break;
            default: {
                const uint64_t far = pick(20) == 0 ? 1'000'000 : 4;
                wait(model_.world.clock.now + pick(far * scale_ + 1));
            }
        }
    }

    void wait(uint64_t time) {
        // what is due far ahead is known before it comes, also if something sooner is written then
        const auto* ahead = model_.next();
        if (pick(3) == 0) {
            ASSERT_EQ(bench_.map.next_due(NEVER - 1), ahead == nullptr ? NEVER : uint64_t(ahead->due()));
        }
        for (;;) {
            const auto* e = model_.next();
            const uint64_t due = e == nullptr || e->due() > time ? NEVER : static_cast<uint64_t>(e->due());
            ASSERT_EQ(bench_.map.next_due(time), due);
            if (due == NEVER) break;
            bench_.world.clock.now = model_.world.clock.now = due;
            bench_.map.expire_one();
            model_.expire_one();
        }
        bench_.world.clock.now = model_.world.clock.now = time;
    }

    std::mt19937_64 random_;
    uint64_t scale_;  ///< ns that waits are counted in
    uint64_t life_;   ///< ns that timeouts are counted in
    uint64_t keys_;
    uint64_t capacity_;
    Bench<S> bench_;
    Model<S> model_;
    uint32_t epoch_ = 0;
};

template <class S>
class FlowMapModel : public testing::Test {};

constexpr auto evict = WhenFull::evict;
constexpr unsigned everything = HasAlive | HasOwned | HasIndex;
using Specs = testing::Types<
    Spec<HasIdle, WhenFull::drop>, Spec<HasIdle | HasIndex, evict, 5'000'000>, Spec<HasAge | HasOwned, evict>,
    Spec<HasAge | AgeVaries | HasIndex, evict, 13'000'000>, Spec<HasIdle | HasAge | everything, evict>,
    Spec<HasIdle | HasAge | everything, WhenFull::pass, 9'000'000>, Spec<HasIdle | IdleVaries | everything, evict, 7>,
    Spec<HasIdle | IdleVaries | HasAge | AgeVaries | HasIndex, WhenFull::drop, 20'000'000>, Spec<everything, evict>,
    Spec<0, evict>, Spec<HasIndex, WhenFull::drop>, Spec<HasIdle | IdleVaries | Steady, WhenFull::drop, 7>,
    Spec<HasIdle | IdleVaries | HasAge | AgeVaries | HasOwned | Steady, evict, 7>,
    Spec<HasAge | AgeVaries | Steady, evict>>;
TYPED_TEST_SUITE(FlowMapModel, Specs);

TYPED_TEST(FlowMapModel, S1_random_operations_do_what_the_list_does) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const uint64_t scale = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 1'000 : 1'000'000;
        Run<TypeParam> run(seed, scale, seed % 2 == 0);
        run.steps(400);
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(FlowMapModel, S1_random_operations_on_hundreds_of_entries) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        SCOPED_TRACE(seed);
        Run<TypeParam> run(seed, seed % 2 == 0 ? 10 : 100'000, seed == 2, 40);
        run.steps(800);
        if (this->HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace polysome::test
