/// A probe in the line (examples/telemetry): a record per flow, sent to a collector when it ends, and sketches of each
/// interval. TCP and UDP over IPv4 only.
#include <rte_jhash.h>

#include <algorithm>

#include "hand.hpp"

namespace polysome::bench {

namespace {

constexpr uint8_t LAN = 0, WAN = 1;
constexpr uint64_t IDLE = 15 * SECOND, LINGER = SECOND, ACTIVE = 30 * 60 * SECOND, INTERVAL = 10 * SECOND;
constexpr uint8_t FIN = 1, RST = 4;
enum EndReason : uint8_t { idle_timeout = 1, active_timeout = 2, end_of_flow = 3, lack_of_resources = 5 };

struct Record {
    uint64_t last;
    uint64_t start;
    uint64_t octets;
    uint64_t packets : 63;
    uint64_t finished : 1;
};

/// Two hashes of a key, of which all the sketches take as many more as they need.
struct Hashes {
    uint32_t one = 0, two = 0;

    template <class Key>
    static Hashes of(const Key& key) {
        Hashes h;
        rte_jhash_2hashes(&key, sizeof key, &h.one, &h.two);
        return h;
    }
    /// The i-th place of `n`.
    uint64_t place(uint32_t i, uint64_t n) const { return (one + i * (two | 1)) * n >> 32; }
};

/// Error 0.1 %, confidence 99 %.
class CountMin {
  public:
    void add(const Hashes& h, uint64_t n) {
        for (uint32_t i = 0; i < ROWS; ++i) counts_[i * WIDTH + h.place(i, WIDTH)] += n;
    }
    uint64_t estimate(const Hashes& h) const {
        uint64_t least = ~uint64_t{0};
        for (uint32_t i = 0; i < ROWS; ++i) least = std::min(least, counts_[i * WIDTH + h.place(i, WIDTH)]);
        return least;
    }
    void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  private:
    static constexpr uint64_t WIDTH = 2719, ROWS = 5;
    std::vector<uint64_t> counts_ = std::vector<uint64_t>(WIDTH * ROWS);
};

/// A million keys, error 1 %.
class Bloom {
  public:
    void prefetch(const Hashes& h) const {
        for (uint32_t i = 0; i < HASHES; ++i) __builtin_prefetch(&words_[h.place(i, BITS) / 64], 1);
    }
    /// Adds it; was it there?
    bool add(const Hashes& h) {
        bool all = true;
        for (uint32_t i = 0; i < HASHES; ++i) {
            const uint64_t bit = h.place(i, BITS), mask = uint64_t{1} << bit % 64;
            all = all && (words_[bit / 64] & mask) != 0;
            words_[bit / 64] |= mask;
        }
        return all;
    }
    void clear() { std::fill(words_, words_ + BITS / 64 + 1, 0); }

  private:
    static constexpr uint64_t BITS = 10098866, HASHES = 7;
    uint64_t* words_ = large_array<uint64_t>(BITS / 64 + 1);
};

/// Error 2 %.
class HyperLogLog {
  public:
    void add(const Hashes& h) {
        const auto rank = static_cast<uint8_t>(std::countl_zero(h.two | 1) + 1);
        uint8_t& r = registers_[h.one >> 20];
        r = std::max(r, rank);
    }
    uint64_t estimate() const {
        double sum = 0, zeros = 0;
        for (const uint8_t r : registers_) {
            sum += std::ldexp(1, -r);
            zeros += r == 0;
        }
        const double m = 4096, raw = 0.7213 / (1 + 1.079 / m) * m * m / sum;
        return static_cast<uint64_t>(raw <= 2.5 * m && zeros > 0 ? m * std::log(m / zeros) : raw);
    }

  private:
    std::array<uint8_t, 4096> registers_{};
};

/// Space-Saving with 1000 counters: a hash table by flow, a heap by count.
class TopTalkers {
  public:
    TopTalkers() : table_(make_table<FlowKey>("talkers", COUNTERS)), counters_(COUNTERS * 2) { clear(); }

    void add(const FlowKey& key, uint64_t n) {
        int32_t place = rte_hash_lookup(table_, &key);
        if (place < 0) {
            uint64_t inherited = 0;
            uint32_t at = static_cast<uint32_t>(heap_.size());
            if (at == COUNTERS) {
                inherited = counters_[heap_[at = 0]].count;
                rte_hash_del_key(table_, &counters_[heap_[0]].key);
            } else {
                heap_.push_back(0);
            }
            place = rte_hash_add_key(table_, &key);
            if (place < 0) std::abort();  // has room for more than 1000
            counters_[place] = {key, at, inherited};
            heap_[at] = place;
            if (inherited == 0) up(at);
        }
        counters_[place].count += n;
        down(counters_[place].at);
    }
    /// The ten highest, highest first.
    std::vector<std::pair<FlowKey, uint64_t>> top() const {
        std::vector<std::pair<FlowKey, uint64_t>> all;
        for (const int32_t place : heap_) all.emplace_back(counters_[place].key, counters_[place].count);
        const size_t shown = std::min<size_t>(10, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(shown), all.end(),
                          [](const auto& a, const auto& b) { return a.second > b.second; });
        all.resize(shown);
        return all;
    }
    void clear() {
        rte_hash_reset(table_);
        heap_.clear();
    }

  private:
    static constexpr uint32_t COUNTERS = 1000;
    struct Counter {
        FlowKey key;
        uint32_t at;
        uint64_t count;
    };
    uint64_t count(uint32_t at) const { return counters_[heap_[at]].count; }
    void swap(uint32_t a, uint32_t b) {
        std::swap(heap_[a], heap_[b]);
        counters_[heap_[a]].at = a;
        counters_[heap_[b]].at = b;
    }
    void up(uint32_t at) {
        for (; at > 0 && count(at) < count((at - 1) / 2); at = (at - 1) / 2) swap(at, (at - 1) / 2);
    }
    void down(uint32_t at) {
        for (uint32_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && count(child + 1) < count(child)) ++child;
            if (count(at) <= count(child)) break;
            swap(at, child);
            at = child;
        }
    }

    rte_hash* table_;
    std::vector<Counter> counters_;  // by place in the table
    std::vector<int32_t> heap_;      // places
};

class Telemetry : public Hand {
  public:
    explicit Telemetry(const Setup& setup) : exporter_(setup.rows.at(0)), records_("records", setup.flows) {}

    void batch(std::span<Packet> packets, uint64_t now) override {
        if (next_ == 0) next_ = now + INTERVAL;
        for (; now >= next_; next_ += INTERVAL) every_interval();
        Taken<FlowKey> taken;
        std::array<Hashes, BATCH> hashes;
        for (Packet& p : packets) {
            p.out = p.port == LAN ? WAN : LAN;
            View& view = taken.next();
            if (!parse(p, view)) continue;
            const FlowKey key = view.key();
            hashes[taken.count] = Hashes::of(key);
            seen_.prefetch(hashes[taken.count]);
            taken.add(p, key);
        }
        records_.look_up(taken);
        for (uint32_t i = 0; i < taken.count; ++i) {
            account(taken.views[i], taken.keys[i], hashes[i], taken.places[i], now);
        }
        records_.sweep([&](const Record& r) { return is_due(r, now); },
                       [&](int32_t place) { end(place, records_[place].finished ? end_of_flow : idle_timeout); });
    }
    uint64_t emitted() const override { return emitted_; }

  private:
    static bool is_due(const Record& r, uint64_t now) { return now - r.last >= (r.finished ? LINGER : IDLE); }

    void account(const View& view, const FlowKey& key, const Hashes& hashes, int32_t place, uint64_t now) {
        const uint64_t octets = 14 + view.total_length();
        const Hashes source = Hashes::of(key.src);
        talkers_.add(key, octets);
        sources_.add(source, octets);
        hosts_.add(source);
        if (!seen_.add(hashes)) ++flows_;
        place = records_.current(key, place);
        if (place >= 0 && is_due(records_[place], now)) {
            end(place, records_[place].finished ? end_of_flow : idle_timeout);
            place = -1;
        } else if (place >= 0 && now - records_[place].start >= ACTIVE) {
            end(place, active_timeout);
            place = -1;
        }
        if (place < 0) {
            if (records_.full()) end(records_.oldest(), lack_of_resources);
            if ((place = records_.add(key, now)) < 0) return;
            records_[place].start = now;
        }
        Record& r = records_[place];
        r.last = now;
        r.octets += octets;
        r.packets += 1;
        if (view.protocol == TCP && view.l4[13] & (FIN | RST)) r.finished = 1;
    }

    /// An entry's record goes to the collector.
    void end(int32_t place, EndReason why) {
        const Record& r = records_[place];
        const FlowKey key = records_.key(place);
        uint8_t* p = header(key, 16 + 16 + 2 + 2 + 1 + 1 + 4 * 8, 0);
        *p++ = why;
        for (const uint64_t value : {r.start, r.last, r.octets, uint64_t{r.packets}}) p = put(p, value);
        emit(p);
        records_.remove(place);
    }

    void every_interval() {
        const uint64_t hosts = hosts_.estimate();
        for (const auto& [key, octets] : talkers_.top()) {
            uint8_t* p = header(key, 16 + 16 + 2 + 2 + 1 + 4 * 8, 1);
            for (const uint64_t value : {octets, sources_.estimate(Hashes::of(key.src)), flows_, hosts}) {
                p = put(p, value);
            }
            emit(p);
        }
        talkers_.clear();
        sources_.clear();
        seen_.clear();
        flows_ = 0;
    }

    static uint8_t* put(uint8_t* p, uint64_t value) {
        store32(p, static_cast<uint32_t>(value >> 32));
        store32(p + 4, static_cast<uint32_t>(value));
        return p + 8;
    }

    /// Ethernet, IPv4, UDP and the flow; returns where the rest goes. The exporter: its MAC, IP, the collector's, port.
    uint8_t* header(const FlowKey& key, uint32_t payload, uint16_t port_above) {
        out_.fill(0);
        uint8_t* f = out_.data();
        for (size_t i = 0; i < 6; ++i) f[i] = static_cast<uint8_t>(exporter_[2] >> (40 - 8 * i));
        for (size_t i = 0; i < 6; ++i) f[6 + i] = static_cast<uint8_t>(exporter_[0] >> (40 - 8 * i));
        store16(f + 12, 0x0800);
        f[14] = 0x45;
        store16(f + 16, 28 + payload);
        f[22] = 64;
        f[23] = UDP;
        store32(f + 26, static_cast<uint32_t>(exporter_[1]));
        store32(f + 30, static_cast<uint32_t>(exporter_[3]));
        store16(f + 24, checksum(sum_words(f + 14, 20)));
        store16(f + 34, static_cast<uint32_t>(exporter_[4]) + port_above);
        store16(f + 36, static_cast<uint32_t>(exporter_[4]) + port_above);
        store16(f + 38, 8 + payload);
        uint8_t* p = f + 42;
        p[10] = p[11] = p[26] = p[27] = 0xff;  // IPv4-mapped addresses
        std::memcpy(p + 12, &key.src, 4);
        std::memcpy(p + 28, &key.dst, 4);
        std::memcpy(p + 32, &key.sport, 4);
        p[36] = key.protocol;
        return p + 37;
    }

    /// The frame up to `end` leaves.
    void emit(const uint8_t* end) {
        uint8_t* udp = out_.data() + 34;
        const auto size = static_cast<uint32_t>(end - udp);
        const uint16_t sum = checksum(sum_words(udp, size + size % 2, sum_words(out_.data() + 26, 8, UDP + size)));
        store16(udp + 6, sum ? sum : 0xffff);
        ++emitted_;
    }

    std::vector<uint64_t> exporter_;
    FlowTable<FlowKey, Record> records_;
    TopTalkers talkers_;
    CountMin sources_;
    Bloom seen_;
    HyperLogLog hosts_;
    uint64_t flows_ = 0, next_ = 0, emitted_ = 0;
    std::array<uint8_t, 128> out_{};
};

}  // namespace

std::unique_ptr<Hand> make_hand(const Setup& setup) { return std::make_unique<Telemetry>(setup); }

}  // namespace polysome::bench
