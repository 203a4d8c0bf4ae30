/// A probe in the line (examples/telemetry): a record per flow, sent to a collector when it ends, and sketches of each
/// interval. Untagged frames without IPv6 and ICMP.
#pragma once

#include "checksum.hpp"
#include "sketches.hpp"
#include "store.hpp"

namespace polysome::bench::telemetry {

inline constexpr uint8_t LAN = 0, WAN = 1;
inline constexpr uint64_t IDLE = 15 * SECOND, LINGER = SECOND, ACTIVE = 30 * 60 * SECOND, INTERVAL = 10 * SECOND;
inline constexpr uint8_t FIN = 1, RST = 4;
enum EndReason : uint8_t { idle_timeout = 1, active_timeout = 2, end_of_flow = 3, lack_of_resources = 5 };

/// A flow: a FlowKey, and in the last byte 1 for IPv4, as others have no addresses at all.
struct Flow {
    FlowKey key;

    explicit Flow(const View& view) : key(_mm_insert_epi8(view.key, view.ip, 15)) {}
    explicit Flow(FlowKey k) : key(_mm_insert_epi8(k, 0, 13)) {}
    Flow() = default;
    bool operator==(const Flow& other) const { return _mm_movemask_epi8(_mm_cmpeq_epi8(key, other.key)) == 0xffff; }
    uint64_t low() const { return static_cast<uint64_t>(_mm_cvtsi128_si64(key)); }
    uint64_t high() const { return static_cast<uint64_t>(_mm_extract_epi64(key, 1)); }
    /// In front of the addresses as IPv6, little-endian: IPv4-mapped, or nothing.
    uint64_t mapped() const { return high() >> 56 ? 0xffff0000 : 0; }
    /// The words of its canonical bytes (STATE.md, S5.3) that are not 0: source, destination, and the rest with the
    /// size.
    uint64_t source() const { return mapped() | low() << 32; }
    uint64_t destination() const { return mapped() | low() >> 32 << 32; }
    uint64_t rest() const { return (high() & 0xffffffffff) | uint64_t{37} << 56; }
};

struct alignas(64) Record {
    FlowKey key;  ///< byte 13: finished
    Life life;
    uint64_t start, octets, packets;

    bool is(FlowKey other) const { return (_mm_movemask_epi8(_mm_cmpeq_epi8(key, other)) & 0x9fff) == 0x9fff; }
    uint32_t hash() const { return hash_of(Flow(key).key); }
    bool free() const { return packets == 0; }
    uint32_t lifetime() const { return finished() ? 1 : 0; }
    bool finished() const { return _mm_extract_epi8(key, 13) != 0; }
};

/// A frame of the exporter's. Its config: its MAC, its IP, the collector's MAC and IP, the port.
class Export {
  public:
    /// Ethernet, IPv4, UDP to a port above the configured one, and the flow; `payload`: bytes behind UDP.
    Export(const std::vector<uint64_t>& exporter, const Flow& flow, uint32_t payload, uint16_t port_above) {
        for (size_t i = 0; i < 6; ++i) bytes_[i] = static_cast<uint8_t>(exporter[2] >> (40 - 8 * i));
        for (size_t i = 0; i < 6; ++i) bytes_[6 + i] = static_cast<uint8_t>(exporter[0] >> (40 - 8 * i));
        uint8_t* f = bytes_.data();
        store16(f + 12, 0x0800);
        f[14] = 0x45;
        store16(f + 16, 28 + payload);
        f[22] = 64;
        f[23] = UDP;
        store32(f + 26, static_cast<uint32_t>(exporter[1]));
        store32(f + 30, static_cast<uint32_t>(exporter[3]));
        store16(f + 24, checksum(sum_words(f + 14, 20)));
        store16(f + 34, static_cast<uint32_t>(exporter[4]) + port_above);
        store16(f + 36, static_cast<uint32_t>(exporter[4]) + port_above);
        store16(f + 38, 8 + payload);
        const uint64_t source = flow.source(), destination = flow.destination(), rest = flow.rest();
        std::memcpy(f + 42 + 8, &source, 8);
        std::memcpy(f + 42 + 24, &destination, 8);
        std::memcpy(f + 42 + 32, &rest, 5);
        end_ = f + 42 + 37;
    }
    void put8(uint8_t value) { *end_++ = value; }
    void put64(uint64_t value) {
        store32(end_, static_cast<uint32_t>(value >> 32));
        store32(end_ + 4, static_cast<uint32_t>(value));
        end_ += 8;
    }
    std::span<const uint8_t> sealed() {
        uint8_t* udp = bytes_.data() + 34;
        const auto size = static_cast<uint32_t>(end_ - udp);
        const uint16_t sum = checksum(sum_words(udp, size + size % 2, sum_words(bytes_.data() + 26, 8, UDP + size)));
        store16(udp + 6, sum ? sum : 0xffff);
        return {bytes_.data(), end_};
    }
    static constexpr uint32_t FLOW = 37;  ///< bytes of a flow

  private:
    std::array<uint8_t, 128> bytes_{};
    uint8_t* end_;
};

template <class Column>
class Rival {
  public:
    static constexpr size_t BATCH_SIZE = 32;

    explicit Rival(const Setup& setup) : exporter_(setup.rows.at(0)), records_(setup.flows, {IDLE, LINGER}) {}

    void batch(std::span<Packet> packets, uint64_t now) {
        if (next_ == 0) next_ = now + INTERVAL;
        for (; now >= next_; next_ += INTERVAL) {
            records_.expire(next_, on_end());
            every_interval();
        }
        records_.expire(now, on_end());
        const size_t n = packets.size();
        std::array<View, MOST> views;
        std::array<Flow, MOST> flows;
        std::array<uint32_t, MOST> hashes, candidates;
        std::array<Lanes, MOST / 8> of_flow, of_source;
        for (size_t i = 0; i < n; ++i) {
            parse(packets[i], false, views[i]);
            send(packets[i], views[i], packets[i].port == LAN ? WAN : LAN);
            flows[i] = Flow(views[i]);
            hashes[i] = hash_of(flows[i].key);
            records_.prefetch(hashes[i]);
        }
        for (size_t i = 0; i < n; i += 8) hash(&flows[i], std::min<size_t>(8, n - i), of_flow[i / 8], of_source[i / 8]);
        for (size_t i = 0; i < n; ++i) {
            candidates[i] = records_.candidate(hashes[i]);
            seen_.prefetch(Hash(of_flow[i / 8][i % 8]));
        }
        for (size_t i = 0; i < n; ++i) {
            const Hash of_one(of_flow[i / 8][i % 8]), source(of_source[i / 8][i % 8]);
            talkers_.add(flows[i], hashes[i], views[i].length);
            sources_.add(source, views[i].length);
            hosts_.add(source.first);
            flows_ += !seen_.add(of_one);
            account(packets[i], views[i], flows[i], hashes[i], candidates[i], now);
        }
    }
    uint64_t emitted() const { return emitted_; }
    void emit_to(Emit emit, void* to) {
        emit_ = emit;
        to_ = to;
    }

  private:
    /// SipHash of at most eight flows, and of their sources.
    static void hash(const Flow* flows, size_t count, Lanes& of_flow, Lanes& of_source) {
        Lanes source{}, destination{}, rest{};
        for (size_t i = 0; i < count; ++i) {
            source[i] = flows[i].source();
            destination[i] = flows[i].destination();
            rest[i] = flows[i].rest();
        }
        SipLanes both;  // they begin alike: with the source
        both.absorb(Lanes{});
        both.absorb(source);
        SipLanes alone = both;
        alone.absorb(Lanes{} + (uint64_t{16} << 56));
        of_source = alone.finish();
        both.absorb(Lanes{});
        both.absorb(destination);
        both.absorb(rest);
        of_flow = both.finish();
    }

    [[gnu::always_inline]] void account(const Packet& packet, const View& view, const Flow& flow, uint32_t hash,
                                        uint32_t candidate, uint64_t now) {
        uint32_t place = records_.find(flow.key, hash, candidate, now, on_end());
        if (place != NONE && now - records_[place].start >= ACTIVE) [[unlikely]] {
            end(records_[place], active_timeout, now);
            records_.remove(place);
            place = NONE;
        }
        if (place == NONE) [[unlikely]]
            place = begin(flow, hash, now);
        Record& r = records_[place];
        const bool fresh = r.packets == 0;
        r.life.last = now;
        r.octets += view.length;
        r.packets += 1;
        const bool ends = view.l4 != NOWHERE && view.protocol == TCP && packet.data[view.l4 + 13] & (FIN | RST);
        const bool finishes = ends && !r.finished();
        if (finishes) r.key = _mm_insert_epi8(r.key, 1, 13);
        if (fresh || finishes) [[unlikely]]
            records_.begin(place);
    }
    [[gnu::noinline]] uint32_t begin(const Flow& flow, uint32_t hash, uint64_t now) {
        if (records_.full())
            records_.evict(now, [this](const Record& r, uint64_t at) { end(r, lack_of_resources, at); });
        const uint32_t place = records_.insert(hash, now);
        records_[place].key = flow.key;
        records_[place].start = now;
        return place;
    }

    auto on_end() {
        return [this](const Record& r, uint64_t at) { end(r, r.finished() ? end_of_flow : idle_timeout, at); };
    }
    /// A record goes to the collector.
    void end(const Record& r, EndReason why, uint64_t now) {
        Export frame(exporter_, Flow(r.key), Export::FLOW + 1 + 4 * 8, 0);
        frame.put8(why);
        for (const uint64_t value : {r.start, r.life.last, r.octets, r.packets}) frame.put64(value);
        emit(frame, now);
    }
    void every_interval() {
        const uint64_t hosts = hosts_.estimate();
        for (const auto& [flow, octets] : talkers_.top()) {
            Lanes unused, source;
            hash(&flow, 1, unused, source);
            Export frame(exporter_, flow, Export::FLOW + 4 * 8, 1);
            for (const uint64_t value : {octets, sources_.estimate(Hash(source[0])), flows_, hosts}) frame.put64(value);
            emit(frame, next_);
        }
        talkers_.clear();
        sources_.clear();
        seen_.clear();
        flows_ = 0;
    }
    void emit(Export& frame, uint64_t now) {
        const auto bytes = frame.sealed();
        if (emit_ != nullptr) emit_(to_, now, bytes);
        ++emitted_;
    }

    std::vector<uint64_t> exporter_;
    Store<Record, 2, Column> records_;
    TopTalkers<Flow> talkers_;
    CountMin sources_;
    Bloom seen_;
    HyperLogLog hosts_;
    uint64_t flows_ = 0, next_ = 0, emitted_ = 0;
    Emit emit_ = nullptr;
    void* to_ = nullptr;
};

}  // namespace polysome::bench::telemetry
