/// An NF as an element of FastClick: the base of the element that `polysome compile` writes, which says what it does.
///
/// Include <click/config.h> first. Input and output K are the logical port K, unless packets are frames of a switch.
/// Packets that are changed in place leave as they came; those that get longer, or go to several ports, are made anew.
#pragma once

#include <click/args.hh>
#include <click/batchelement.hh>
#include <click/error.hh>
#include <click/packet.hh>
#include <click/string.hh>
#include <click/sync.hh>
#include <click/timer.hh>
#include <click/timestamp.hh>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "host/common.hpp"
#include "host/live_clock.hpp"
#include "nf/fields_frames.hpp"
#include "nf/machine.hpp"

CLICK_USING_DECLS

namespace polysome::host {

template <class Nf>
class FastClickElement : public BatchElement {
  public:
    using EachMap = std::function<void(const char* name, uint64_t entries)>;

    const char* processing() const override { return PUSH; }

    int configure(Vector<String>& conf, ErrorHandler* errh) override {
        String config;
        if (Args(conf, this, errh).read("CONFIG", FilenameArg(), config).read("TIMESTAMPS", timestamps_).complete() <
            0) {
            return -1;
        }
        try {
            machine_ = std::make_unique<Machine<Nf, FastClickElement>>(*this);
        } catch (const std::bad_alloc&) {
            return errh->error("no memory for the tables of the NF");
        }
        out_.resize(framed ? 1 : Nf::port_names.size());
        return config ? change_to_file(config, errh) : 0;
    }

    int initialize(ErrorHandler* errh) override {
        const Bitvector threads = get_passing_threads();
        if (threads.weight() > 1) {
            return errh->error("packets come from %d threads, but its state is one: give each thread its own element",
                               threads.weight());
        }
        timer_.initialize(this);
        if (timestamps_) return 0;
        for (int thread = 0; thread < threads.size(); ++thread) {
            if (threads[thread]) timer_.move_thread(thread);
        }
        timer_.schedule_after_msec(1);
        return 0;
    }

    void add_handlers() override {
        const char* const names[] = {"in", "sent", "held", "copies", "emitted", "dropped", "drops", "flows"};
        for (int which = 0; which < 8; ++which) add_read_handler(names[which], read, which);
        add_write_handler("config", write, 0);
    }

    void push_batch(int port, PacketBatch* batch) override {
        {
            const Guard guard(lock_);
            const uint64_t now = timestamps_ ? 0 : clock_.now();
            FOR_EACH_PACKET_SAFE(batch, packet) take(port, packet, now);
            run();
            machine_->finish();
        }
        give();
    }

    void push(int port, Packet* packet) override {
        {
            const Guard guard(lock_);
            take(port, packet, timestamps_ ? 0 : clock_.now());
            run();
            machine_->finish();
        }
        give();
    }

    /// Held packets leave, entries end and timers fire also while nothing arrives.
    void run_timer(Timer*) override {
        {
            const Guard guard(lock_);
            machine_->advance(clock_.now());
        }
        give();
        timer_.reschedule_after_msec(1);
    }

    // ---- for the machine

    void left(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t order) {
        const uint64_t place = order - first_;
        if (place >= count_ || packets_[place] == nullptr || bytes.data() != packets_[place]->data()) {
            return make(port, time, bytes);
        }
        WritablePacket* const packet = packets_[place];
        packets_[place] = nullptr;
        packet->take(packet->length() - static_cast<uint32_t>(bytes.size()));
        add(port, time, packet);
    }
    void emitted(uint16_t port, uint64_t time, std::span<const uint8_t> bytes, uint64_t) { make(port, time, bytes); }
    void dropped(uint64_t, uint16_t) {}
    void decided(uint64_t, uint64_t, const typename Nf::Packet&) {}

  protected:
    /// Are packets frames of a switch (nf/fields_frames.hpp)? They come by input 0 and leave by output 0.
    static constexpr bool framed = polysome::framed<Nf>;

    /// Calls `each` for every map and set of the NF.
    virtual void maps(const Nf& nf, const EachMap& each) const = 0;

  private:
    class Guard {
      public:
        explicit Guard(Spinlock& lock) : lock_(lock) { lock_.acquire(); }
        ~Guard() { lock_.release(); }
        Guard(const Guard&) = delete;

      private:
        Spinlock& lock_;
    };
    /// Packets for one output, linked.
    struct Out {
        Packet* first = nullptr;
        Packet* last = nullptr;
        unsigned count = 0;
    };

    // ------------------------------------------------------------ packets

    /// One packet into the present batch; the machine may change its bytes.
    void take(int port, Packet* packet, uint64_t now) {
        WritablePacket* const own = packet->uniqueify();
        if (own == nullptr) return;  // no memory: the packet is gone
        const uint64_t time = timestamps_ ? static_cast<uint64_t>(own->timestamp_anno().nsecval()) : now;
        if constexpr (framed) {
            if (!Tag::accepts(own->data(), own->length())) {
                ++refused_;
                own->kill();
                return;
            }
            if (Tag::is_probe(own->data())) {
                const std::span<const uint8_t> answer = machine_->nf().probed(own->data(), own->length());
                answer.empty() ? void(++refused_) : make(0, time, answer);
                own->kill();
                return;
            }
            port = Tag::port(own->data());
        }
        packets_[taken_] = own;
        arrivals_[taken_++] = {time, own->data(), own->length(), static_cast<uint16_t>(port)};
        if (taken_ == largest_batch) run();
    }

    void run() {
        if (taken_ == 0) return;
        first_ = machine_->counters().packets_in;
        count_ = taken_;
        machine_->arrive(std::span(arrivals_).first(taken_));
        for (size_t i = 0; i < taken_; ++i) {
            if (packets_[i] != nullptr) packets_[i]->kill();
        }
        taken_ = count_ = 0;
    }

    void make(uint16_t port, uint64_t time, std::span<const uint8_t> bytes) {
        const auto size = static_cast<uint32_t>(bytes.size());
        if (WritablePacket* const packet = Packet::make(Packet::default_headroom, bytes.data(), size, 0)) {
            add(port, time, packet);
        } else {
            click_chatter("%p{element}: no memory for a packet", this);
        }
    }

    void add(uint16_t port, uint64_t time, Packet* packet) {
        if (timestamps_) packet->set_timestamp_anno(Timestamp::make_nsec(static_cast<Timestamp::value_type>(time)));
        packet->set_next(nullptr);
        Out& out = out_[framed ? 0 : port];
        if (out.first == nullptr) {
            out.first = packet;
        } else {
            out.last->set_next(packet);
        }
        out.last = packet;
        ++out.count;
    }

    /// Pushes what has gathered. It may come back to an input of this very element, which then gathers anew.
    void give() {
        for (size_t port = 0; port < out_.size(); ++port) {
            const Out out = std::exchange(out_[port], {});
            if (out.count == 0) continue;
            if (in_batch_mode == BATCH_MODE_YES) {
                PacketBatch* const batch = PacketBatch::start_head(out.first);
                output_push_batch(static_cast<int>(port), batch->make_tail(out.last, out.count));
                continue;
            }
            for (Packet* packet = out.first; packet != nullptr;) {
                Packet* const next = packet->next();
                packet->set_next(nullptr);
                output(static_cast<int>(port)).push(packet);
                packet = next;
            }
        }
    }

    // ------------------------------------------------------------ config, handlers

    int change_to_file(const String& name, ErrorHandler* errh) {
        try {
            return change(read_file(name.c_str()), name, errh);
        } catch (const Failure& failure) {
            return errh->error("%s", failure.what());
        }
    }

    int change(std::span<const uint8_t> blob, const String& name, ErrorHandler* errh) {
        const Guard guard(lock_);
        if (!timestamps_) machine_->advance(clock_.now());
        if (machine_->configure(blob)) return 0;
        return errh->error("%s is no config of this NF; write it with `polysome compile --config`", name.c_str());
    }

    static int write(const String& text, Element* element, void*, ErrorHandler* errh) {
        auto* const self = static_cast<FastClickElement*>(element);
        const String given = text.trim_space();
        std::vector<uint8_t> blob;
        if (given && from_hex(given, blob)) return self->change(blob, "what was written", errh);
        return self->change_to_file(given, errh);
    }

    /// Is all of it an even number of hexadecimal digits?
    static bool from_hex(const String& text, std::vector<uint8_t>& bytes) {
        if (text.length() % 2 != 0) return false;
        int high = 0;
        for (int i = 0; i < text.length(); ++i) {
            const int c = text[i] | 0x20;
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
            if (digit < 0) return false;
            if (i % 2 == 0) {
                high = digit;
            } else {
                bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
            }
        }
        return true;
    }

    static String read(Element* element, void* which) {
        auto* const self = static_cast<FastClickElement*>(element);
        const Guard guard(self->lock_);
        const auto& c = self->machine_->counters();
        std::string text;
        switch (reinterpret_cast<intptr_t>(which)) {
            case 0:
                return String(c.packets_in);
            case 1:
                return String(c.sent);
            case 2:
                return String(self->machine_->held());
            case 3:
                return String(c.copies);
            case 4:
                return String(c.emitted);
            case 5:
                return String(std::accumulate(c.dropped.begin(), c.dropped.end(), uint64_t{0}));
            case 6:
                for (size_t i = 1; i < c.dropped.size(); ++i) {
                    if (c.dropped[i] == 0) continue;
                    text += std::to_string(c.dropped[i]) + " " + std::string(Nf::reasons[i]) + "\n";
                }
                if (self->refused_ != 0) text += std::to_string(self->refused_) + " not a frame of the switch\n";
                break;
            default:
                self->maps(self->machine_->nf(), [&](const char* name, uint64_t entries) {
                    text += std::to_string(entries) + " " + name + "\n";
                });
        }
        return String(text.c_str());
    }

    std::unique_ptr<Machine<Nf, FastClickElement>> machine_;
    LiveClock clock_;
    bool timestamps_ = false;
    Spinlock lock_;
    Timer timer_{this};
    std::vector<Out> out_;
    std::array<WritablePacket*, largest_batch> packets_{};  ///< of the present batch; null once one is to leave
    std::array<Arrival, largest_batch> arrivals_{};
    size_t taken_ = 0;
    uint64_t first_ = 0;  ///< the present batch: packets first_ to first_ + count_ - 1
    uint64_t count_ = 0;
    uint64_t refused_ = 0;  ///< frames that are none of the switch's; they do not count as packets
};

}  // namespace polysome::host
