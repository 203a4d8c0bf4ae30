// The split protocol by hand, for the tests of the system around a switch: what the switch's program does, with plain
// maps for registers. Packets of 100 bytes or more are split, all as class 1 of tiny_split.hpp; what else comes is
// whole. Counts what it refuses.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdma/roce.hpp"
#include "system/system.hpp"

namespace polysome::system::model {

inline constexpr size_t threshold = 100, cell_size = 2048, cells = 4096, most_reads = 16;
inline constexpr Time silence = 1'000'000, read_timeout = 1'000'000;
inline constexpr rdma::Mac switch_mac = {2, 0, 0, 0, 0, 1}, nf_mac = {2, 0, 0, 0, 0, 2};
inline constexpr uint32_t switch_ip = 0xc0a828fe;

inline rdma::Mac server_mac(size_t i) { return {2, 0, 0, 0, 1, static_cast<uint8_t>(i)}; }
inline uint32_t server_ip(size_t i) { return 0xc0a82801 + static_cast<uint32_t>(i); }

class Switch final : public SplitTables {
  public:
    struct PortConfig {
        uint64_t rate = 0;
        uint32_t queue_bytes = 512 * 1024;
        uint64_t metadata = 0;
        bool append_icrc = false;
        bool loopback = false;
        uint64_t loop_time = 0;
    };
    using Bytes = std::vector<uint8_t>;

    std::map<std::string, uint64_t> counters;

    explicit Switch(void (*)(std::span<const uint8_t>, uint8_t*)) {}  // its frames have theirs

    void set_port(uint16_t number, const PortConfig& config) {
        Port& port = ports_[number];
        port.config = config;
        port.wire = Wire(config.rate);
        port.role = static_cast<PortRole>(config.metadata >> 56);
        port.index = static_cast<uint8_t>(config.metadata >> 48);
        if (port.role == PortRole::traffic) traffic_[port.index] = number;
        if (port.role == PortRole::server) servers_[port.index] = number;
        if (port.role == PortRole::nf) nf_ = number;
    }

    bool is_set(uint16_t number) const { return ports_.contains(number); }

    void receive(uint16_t number, std::span<const uint8_t> bytes, Time now, uint64_t mark) {
        now_ = now;
        const Port& port = ports_.at(number);
        switch (port.role) {
            case PortRole::traffic:
                return traffic(port.index, bytes, mark);
            case PortRole::nf:
                return answer(bytes, mark);
            case PortRole::server:
                return from_server(bytes, mark);
            case PortRole::generator:
                return sweep(load<uint16_t>(bytes.data() + 4));
            default:
                break;
        }
    }
    Time next() const {
        Time first = never;
        for (const auto& [number, port] : ports_) {
            if (!port.queue.empty()) first = std::min(first, port.queue.front().at);
        }
        return first;
    }
    template <class Transmit>
    void advance(Time now, Transmit&& transmit) {
        for (auto& [number, port] : ports_) {
            while (!port.queue.empty() && port.queue.front().at <= now) {
                Copy copy = port.queue.pop();
                const std::optional<Bytes> frame = egress(copy);
                if (frame) transmit(number, *frame, port.wire.put(now, frame->size()), copy.mark);
            }
        }
    }

    // ---- SplitTables

    bool up(size_t qp) override { return pairs_.at(qp).up; }
    void set_up(size_t qp, bool up) override { pairs_[qp].up = up; }
    void set_queue_pair(size_t qp, const QueuePairEntry& entry) override {
        Pair& pair = pairs_[qp];
        by_answer_.erase(pair.entry.answers_to);
        pair.entry = entry;
        pair.psn = entry.numbers.psn;
        pair.acked = (entry.numbers.psn - 1) & rdma::PSN_MASK;
        by_answer_[entry.answers_to] = static_cast<uint16_t>(qp);
    }
    void clear_history(size_t qp) override {
        pairs_[qp].reads = 0;
        pairs_[qp].swept = false;
        pairs_[qp].heard = now_;
    }

  private:
    struct Copy {
        Time at = 0;
        uint64_t mark = 0;
        bool read = false;
        uint16_t qp = 0xffff;  // none: the frame is as it is
        uint32_t seq = 0;
        uint32_t length = 0;
        Bytes bytes;
    };
    struct Port {
        PortConfig config;
        PortRole role = PortRole::plain;
        uint8_t index = 0;
        Wire wire{0};
        Ring<Copy> queue;
    };
    struct Slot {
        uint32_t seq = 0;
        bool done = true;
        uint8_t edit = 0;
        uint16_t verdict = 0;
    };
    struct Pair {
        QueuePairEntry entry;
        bool up = false;
        uint32_t psn = 0, acked = 0;
        uint32_t reads = 0;
        Time heard = 0;
        Time last_take = 0;
        bool swept = false;
    };

    void put(uint16_t port, Copy copy) {
        copy.at = now_;
        ports_.at(port).queue.push(std::move(copy));
    }
    Bytes tagged(uint8_t flag, uint32_t seq, uint16_t qp, size_t length, uint16_t port,
                 std::span<const uint8_t> rest) const {
        Bytes frame(std::max(Tag::smallest, Tag::head + rest.size()));
        std::copy(nf_mac.begin(), nf_mac.end(), frame.begin());
        std::copy(switch_mac.begin(), switch_mac.end(), frame.begin() + 6);
        store(frame.data() + 12, Tag::ether_type);
        frame[Tag::link] = static_cast<uint8_t>(Tag::version << 4 | flag);
        frame[Tag::link + 1] = flag == 0;
        store(frame.data() + Tag::link + 2, seq);
        store(frame.data() + Tag::link + 6, qp);
        store(frame.data() + Tag::link + 8, static_cast<uint16_t>(length));
        Tag::set_port(frame.data(), port);
        std::copy(rest.begin(), rest.end(), frame.begin() + Tag::head);
        return frame;
    }

    void traffic(uint16_t index, std::span<const uint8_t> bytes, uint64_t mark) {
        const size_t qp = bytes.empty() ? 0 : bytes[3 % bytes.size()] % pairs_.size();
        const size_t chosen = pairs_[qp].up ? qp : (qp + 1) % pairs_.size();
        if (bytes.size() < threshold || bytes.size() > cell_size - 11 || !pairs_[chosen].up) {
            ++counters["whole"];
            return put(nf_, {.mark = mark, .bytes = tagged(Tag::whole, 0, 0, bytes.size(), index, bytes)});
        }
        ++counters["split"];
        const uint32_t seq = ++seq_;
        const auto number = static_cast<uint16_t>(chosen);
        put(servers_.at(pairs_[chosen].entry.server),
            {.mark = mark, .qp = number, .seq = seq, .bytes = {bytes.begin(), bytes.end()}});
        put(nf_, {.mark = mark, .bytes = tagged(0, seq, number, bytes.size(), index, bytes.first(6))});
    }

    void answer(std::span<const uint8_t> bytes, uint64_t mark) {
        const uint8_t* const frame = bytes.data();
        const uint16_t verdict = Tag::port(frame);
        if ((frame[Tag::link] & 15) != 0) {
            const auto packet = bytes.subspan(Tag::head);
            return out({packet.begin(), packet.end()}, verdict, mark);
        }
        const uint32_t seq = Tag::seq(frame);
        Slot& slot = slots_[seq % cells];
        Pair& pair = pairs_.at(Tag::qp(frame));
        if (slot.seq == seq) return refuse("repeated edits");
        if (!pair.up) return refuse("edits of a pair that is down");
        if (pair.reads >= most_reads && now_ - pair.last_take < read_timeout) return refuse("guard");
        if (pair.reads >= most_reads) pair.reads = 0;
        ++pair.reads;
        pair.last_take = now_;
        slot = {seq, false, frame[Tag::head], verdict};
        put(servers_.at(pair.entry.server),
            {.mark = mark, .read = true, .qp = Tag::qp(frame), .seq = seq, .length = Tag::length(frame), .bytes = {}});
    }

    void from_server(std::span<const uint8_t> bytes, uint64_t mark) {
        rdma::Frame frame;
        if (rdma::parse(bytes, frame) != rdma::Flaw::none || frame.destination != switch_mac) return plain(bytes, mark);
        const auto found = by_answer_.find(frame.bth.qpn);
        if (found == by_answer_.end() || !pairs_[found->second].up) return refuse("stale answer");
        Pair& pair = pairs_[found->second];
        if (rdma::answer_of(frame.aeth.syndrome) == rdma::Answer::nak) return nak(pair, frame);
        pair.acked = frame.bth.psn;
        pair.heard = now_;
        pair.swept = false;
        if (frame.bth.opcode == rdma::Opcode::read_response_only) merge(pair, frame, mark);
    }
    void nak(Pair& pair, const rdma::Frame& frame) {
        if (rdma::value_of(frame.aeth.syndrome) != 0) {
            pair.up = false;
            return refuse("fatal nak");
        }
        ++counters["sequence nak"];
        pair.psn = frame.bth.psn;
    }
    void merge(Pair& pair, const rdma::Frame& frame, uint64_t mark) {
        if (pair.reads > 0) --pair.reads;
        const uint32_t seq = load<uint32_t>(frame.payload.data());
        const size_t pad = frame.payload[4];
        Slot& slot = slots_[seq % cells];
        if (slot.seq != seq || slot.done) return refuse("foreign cell");
        slot.done = true;
        Bytes packet(frame.payload.begin() + static_cast<std::ptrdiff_t>(4 + pad), frame.payload.end());
        packet[0] = slot.edit;
        ++counters["merged"];
        out(std::move(packet), slot.verdict, mark);
    }
    void sweep(uint16_t qp) {
        Pair& pair = pairs_.at(qp);
        const bool waits = pair.psn != ((pair.acked + 1) & rdma::PSN_MASK);
        if (!pair.up || !waits || now_ - pair.heard < silence) return;
        if (pair.swept) {
            pair.up = false;
            return refuse("silent");
        }
        ++counters["resync"];
        pair.swept = true;
        pair.heard = now_;
        pair.psn = (pair.acked + 1) & rdma::PSN_MASK;
    }

    // Frames of others are for the server with their address.
    void plain(std::span<const uint8_t> bytes, uint64_t mark) {
        for (const auto& [index, port] : servers_) {
            const rdma::Mac mac = server_mac(index);
            if (std::equal(mac.begin(), mac.end(), bytes.begin())) {
                return put(port, {.mark = mark, .bytes = {bytes.begin(), bytes.end()}});
            }
        }
        refuse("plain");
    }
    void out(const Bytes& packet, uint16_t verdict, uint64_t mark) {
        for (const auto& [index, port] : traffic_) {
            const bool here = (verdict & Tag::port_set) != 0 ? (verdict >> index & 1) != 0 : verdict == index;
            if (here) put(port, {.mark = mark, .bytes = packet});
        }
    }
    void refuse(const char* why) { ++counters[why]; }

    std::optional<Bytes> egress(Copy& copy) {
        if (copy.qp == 0xffff) return std::move(copy.bytes);
        Pair& pair = pairs_.at(copy.qp);
        Bytes cell;
        const size_t length = copy.read ? copy.length : copy.bytes.size(), pad = 4 + (-length & 3);
        if (!copy.read) {
            cell.resize(4 + pad);
            store(cell.data(), copy.seq);
            cell[4] = static_cast<uint8_t>(pad);
            cell.insert(cell.end(), copy.bytes.begin(), copy.bytes.end());
        }
        const size_t server = pair.entry.server;
        const rdma::Frame frame{.destination = server_mac(server),
                                .source = switch_mac,
                                .destination_ip = server_ip(server),
                                .source_ip = switch_ip,
                                .bth = {.opcode = copy.read ? rdma::Opcode::read_request : rdma::Opcode::write_only,
                                        .qpn = pair.entry.numbers.qpn,
                                        .ack_request = true,
                                        .psn = pair.psn},
                                .reth = {.address = copy.seq % cells * cell_size,
                                         .rkey = 7,
                                         .length = static_cast<uint32_t>(4 + pad + length)},
                                .aeth = {},
                                .payload = cell};
        pair.psn = (pair.psn + 1) & rdma::PSN_MASK;
        Bytes bytes(rdma::frame_size(frame));
        rdma::build(frame, bytes);
        return bytes;
    }

    std::map<uint16_t, Port> ports_;
    std::map<uint16_t, uint16_t> traffic_, servers_;
    uint16_t nf_ = 0;
    std::map<size_t, Pair> pairs_;
    std::map<uint32_t, uint16_t> by_answer_;
    std::map<uint32_t, Slot> slots_;
    uint32_t seq_ = 0;
    Time now_ = 0;
};

}  // namespace polysome::system::model
