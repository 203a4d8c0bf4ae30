// The bench's traffic as a source and sink of FastClick.
// clang-format off
#include <click/config.h>  // FastClick wants it first
#include "polysometraffic.hh"
// clang-format on

#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#include <click/args.hh>
#include <click/error.hh>
#include <click/master.hh>
#include <click/router.hh>
#include <click/standard/scheduleinfo.hh>
#include <cstdio>
#include <cstring>

CLICK_DECLS

namespace bench = polysome::bench;

namespace {

/// Puts anonymous memory in large pages where shared memory was, with what it holds.
void exchange(uint8_t* from, size_t bytes) {
    constexpr size_t page = 4096, large_page = size_t{2} << 20;
    auto* const raw = static_cast<uint8_t*>(
        mmap(nullptr, bytes + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    std::vector<uint8_t> used(bytes / page);
    if (raw == MAP_FAILED || mincore(from, bytes, used.data()) != 0) return;
    // As far from a large page's start as what it replaces.
    uint8_t* const to = raw + (reinterpret_cast<uintptr_t>(from) - reinterpret_cast<uintptr_t>(raw)) % large_page;
    madvise(to, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < used.size(); ++i) {
        if (used[i] & 1) std::memcpy(to + i * page, from + i * page, page);
    }
    if (mremap(to, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED) std::perror("mremap");
}

/// Large pages for the memory that DPDK has without reserved pages, so that its tables are in such as those of all
/// columns are. Before any are made.
void use_large_pages() {
    std::vector<std::pair<unsigned long, unsigned long>> found;
    FILE* maps = std::fopen("/proc/self/maps", "r");
    if (maps == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long from = 0, to = 0;
        if (std::strstr(line, "memfd:nohuge") == nullptr || std::sscanf(line, "%lx-%lx rw-s", &from, &to) != 2)
            continue;
        found.emplace_back(from, to);
    }
    std::fclose(maps);
    for (const auto& [from, to] : found) exchange(reinterpret_cast<uint8_t*>(from), to - from);
}

/// Processor time of this thread, in ns.
uint64_t processor_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t real_time() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

/// Cycles of the time stamp counter per ns.
double cycles_per_ns() {
    const uint64_t from = real_time(), cycles = __rdtsc();
    while (real_time() - from < 20'000'000) {
    }
    return static_cast<double>(__rdtsc() - cycles) / static_cast<double>(real_time() - from);
}

}  // namespace

PolysomeTraffic::PolysomeTraffic() {
    in_batch_mode = BATCH_MODE_YES;
    use_large_pages();
}

int PolysomeTraffic::configure(Vector<String>& conf, ErrorHandler* errh) {
    String seconds;
    if (Args(conf, this, errh)
            .read_mp("NF", nf_)
            .read_mp("FLOWS", traffic_.flows)
            .read("ZIPF", traffic_.zipf)
            .read("SECONDS", seconds_)
            .read("REPETITIONS", repetitions_)
            .complete() < 0) {
        return -1;
    }
    traffic_.shape = bench::shape_of(std::string_view(nf_.data(), static_cast<size_t>(nf_.length())));
    if (traffic_.shape.replies && noutputs() != 2) return errh->error("replies need a second output");
    return 0;
}

int PolysomeTraffic::initialize(ErrorHandler* errh) {
    ScheduleInfo::initialize_task(this, &task_, true, errh);
    return 0;
}

bool PolysomeTraffic::get_spawning_threads(Bitvector& threads, bool isoutput, int) {
    if (isoutput) threads[home_thread_id()] = true;
    return true;
}

bool PolysomeTraffic::run_task(Task* task) {
    constexpr size_t batches = 64;
    if (lanes_.empty()) {
        open();
        prepare();
        began_ = processor_time();
    }
    std::array<const bench::Frame*, bench::OPENED> frames;
    for (size_t n = 0; n < batches; ++n) {
        const size_t port = n % lanes_.size();
        Lane& lane = lanes_[port];
        if (lane.cursor + bench::OPENED > lane.places.size()) lane.cursor = 0;
        for (size_t i = 0; i < bench::OPENED; ++i) frames[i] = trace_->frames + lane.places[lane.cursor + i];
        lane.cursor += bench::OPENED;
        send(static_cast<int>(port), frames.data(), bench::OPENED);
    }
    packets_ += batches * bench::OPENED;
    const uint64_t now = processor_time();
    if (static_cast<double>(now - began_) >= seconds_ * 1e9) repetition_ends(now);
    task->fast_reschedule();
    return true;
}

/// All flows, through the network function; their public endpoints are those that come back.
void PolysomeTraffic::open() {
    publics_ = bench::no_publics(traffic_);
    bench::open_flows(traffic_, publics_, [&](std::span<bench::Packet> packets) {
        std::array<const bench::Frame*, bench::OPENED> frames;
        for (size_t i = 0; i < packets.size(); ++i) {
            packets[i].data[bench::FRAME - 1] = static_cast<uint8_t>(i);  // which one it is when it comes back
            frames[i] = reinterpret_cast<const bench::Frame*>(packets[i].data);
        }
        opening_ = packets.data();
        send(packets[0].port, frames.data(), packets.size());
        opening_ = nullptr;
    });
}

void PolysomeTraffic::prepare() {
    trace_ = std::make_unique<bench::Trace>(traffic_, publics_);
    lanes_.resize(traffic_.shape.replies ? 2 : 1);
    for (size_t i = 0; i < trace_->order.size(); ++i) {
        lanes_[trace_->ports[i]].places.push_back(static_cast<uint32_t>(i));
    }
    publics_ = {};
    packets_ = sent_ = 0;
}

void PolysomeTraffic::send(int port, const bench::Frame* const* frames, size_t count) {
    Packet *first = nullptr, *last = nullptr;
    for (size_t i = 0; i < count; ++i) {
        Packet* packet = Packet::make(Packet::default_headroom, frames[i]->data(), bench::FRAME, 0);
        packet->set_timestamp_anno(Timestamp::make_nsec(static_cast<Timestamp::value_type>(time_)));
        time_ += bench::NS_PER_PACKET;
        if (first == nullptr) {
            first = packet;
        } else {
            last->set_next(packet);
        }
        last = packet;
    }
    PacketBatch* const batch = PacketBatch::start_head(first);
    output_push_batch(port, batch->make_tail(last, static_cast<unsigned>(count)));
}

void PolysomeTraffic::repetition_ends(uint64_t now) {
    const auto ns = static_cast<double>(now - began_), packets = static_cast<double>(packets_);
    results_.emplace_back(packets / ns * 1e3, ns * cycles_per_ns() / packets);
    all_packets_ += packets_;
    all_sent_ += sent_;
    packets_ = sent_ = 0;
    began_ = processor_time();
    if (results_.size() < repetitions_) return;
    std::printf("{\"mpps\": [");
    for (size_t i = 0; i < results_.size(); ++i) std::printf("%s%.4f", i ? ", " : "", results_[i].first);
    std::printf("], \"cycles\": [");
    for (size_t i = 0; i < results_.size(); ++i) std::printf("%s%.2f", i ? ", " : "", results_[i].second);
    std::printf("], \"sent\": %.6f}\n", static_cast<double>(all_sent_) / static_cast<double>(all_packets_));
    std::fflush(stdout);
    router()->please_stop_driver();
}

void PolysomeTraffic::note(int port, Packet* packet) {
    bench::Packet& p = opening_[packet->data()[bench::FRAME - 1]];
    p.out = static_cast<uint8_t>(port);
    std::memcpy(p.data, packet->data(), bench::FRAME);
}

void PolysomeTraffic::push_batch(int port, PacketBatch* batch) {
    sent_ += batch->count();
    if (opening_ != nullptr) {
        FOR_EACH_PACKET(batch, packet) note(port, packet);
    }
    batch->kill();
}

void PolysomeTraffic::push(int port, Packet* packet) {
    ++sent_;
    if (opening_ != nullptr) note(port, packet);
    packet->kill();
}

ELEMENT_REQUIRES(userlevel batch)
EXPORT_ELEMENT(PolysomeTraffic)

CLICK_ENDDECLS
