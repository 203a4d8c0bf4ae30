// The bench's traffic as a source and sink of FastClick.
#ifndef CLICK_POLYSOMETRAFFIC_HH
#define CLICK_POLYSOMETRAFFIC_HH
#include <click/batchelement.hh>
#include <click/task.hh>
#include <memory>

#include "trace.hpp"

CLICK_DECLS

/*
=c

PolysomeTraffic(NF, FLOWS, [I<keywords> ZIPF, SECONDS, REPETITIONS])

=s polysome

the traffic of Polysome's native bench

=d

Sends the packets of the bench for the network function NF with so many
FLOWS: those of port K through output K, in batches of 32, copied from memory.
First it opens all flows; what comes back to an input tells what became of a
packet, which must happen before the batch's push returns. Then it sends the
trace again and again, REPETITIONS times for SECONDS, prints what that took as
a JSON object, and stops the driver. Packets that come back end here.

Packets carry timestamps: 100 ns pass per packet.

*/

class PolysomeTraffic : public BatchElement {
  public:
    PolysomeTraffic();

    const char* class_name() const override { return "PolysomeTraffic"; }
    const char* port_count() const override { return "1-2/1-2"; }
    const char* processing() const override { return PUSH; }
    const char* flow_code() const override { return "x/y"; }

    int configure(Vector<String>&, ErrorHandler*) override;
    int initialize(ErrorHandler*) override;
    bool get_spawning_threads(Bitvector& threads, bool isoutput, int port) override;
    bool run_task(Task*) override;
    void push_batch(int port, PacketBatch*) override;
    void push(int port, Packet*) override;

  private:
    /// The packets of one port, in the order of the trace.
    struct Lane {
        std::vector<uint32_t> places;
        size_t cursor = 0;
    };

    void open();
    void prepare();
    void send(int port, const polysome::bench::Frame* const* frames, size_t count);
    void repetition_ends(uint64_t now);
    void note(int port, Packet* packet);

    polysome::bench::Traffic traffic_;
    String nf_;
    double seconds_ = 0.5;
    unsigned repetitions_ = 3;
    Task task_{this};

    polysome::bench::Publics publics_;
    std::unique_ptr<polysome::bench::Trace> trace_;
    std::vector<Lane> lanes_;
    polysome::bench::Packet* opening_ = nullptr;  ///< the batch that is pushed while flows are opened
    uint64_t time_ = 1'000'000'000'000'000'000;   ///< of the next packet, in ns
    uint64_t packets_ = 0, sent_ = 0;             ///< since the repetition began
    uint64_t began_ = 0, began_cycles_ = 0, all_packets_ = 0, all_sent_ = 0;
    std::vector<std::pair<double, double>> results_;  ///< Mpps and cycles per packet
};

CLICK_ENDDECLS
#endif
