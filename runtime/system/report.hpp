/// What has happened in a run, as lines `name<tab>value`, in a fixed order. What is 0 is told too, but for causes of
/// loss, reasons and NAK codes. The counters of the switch's program are not among them: its names say what there is.
#pragma once

#include <string>

#include "system/system.hpp"

namespace polysome::system {

class Report {
  public:
    void line(std::string_view name, uint64_t value) {
        text_.append(name).append("\t").append(std::to_string(value)).append("\n");
    }
    void if_any(std::string_view name, uint64_t value) {
        if (value != 0) line(name, value);
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// The fates of packets: in = left + dropped + held + lost, each lost one with one cause.
inline void report_fates(Report& report, const Ledger& ledger) {
    std::array<uint64_t, 4> fates{};
    uint64_t copies = 0;
    std::vector<uint64_t> causes(ledger.causes());
    for (uint64_t packet = 0; packet < ledger.packets(); ++packet) {
        const Fate fate = ledger.fate(packet);
        ++fates[static_cast<size_t>(fate)];
        copies += ledger.copies(packet);
        if (fate == Fate::lost) ++causes[ledger.cause_of(packet)];
    }
    report.line("packets in", ledger.packets());
    report.line("packets left", fates[static_cast<size_t>(Fate::left)]);
    report.line("packets dropped", fates[static_cast<size_t>(Fate::dropped)]);
    report.line("packets held", fates[static_cast<size_t>(Fate::held)]);
    report.line("packets lost", fates[static_cast<size_t>(Fate::lost)]);
    report.line("copies left", copies);
    report.line("decisions", ledger.decisions());
    for (size_t cause = 0; cause < causes.size(); ++cause) {
        report.if_any("lost by " + ledger.name(static_cast<Cause>(cause)), causes[cause]);
    }
}

inline void report_link(Report& report, const Link& link) {
    const Link::Counters& counters = link.counters();
    const std::string name = link.name() + " ";
    for (size_t kind = 0; kind < kinds; ++kind) {
        const Link::Count& sent = counters.sent[kind];
        if (sent.frames == 0) continue;
        report.line(name + kind_names[kind] + " frames", sent.frames);
        report.line(name + kind_names[kind] + " bytes", sent.bytes);
    }
    report.line(name + "sent", counters.all_sent());
    report.line(name + "delivered", counters.delivered.frames);
    report.line(name + "delivered bytes", counters.delivered.bytes);
    report.line(name + "queue full", counters.queue_full);
    report.line(name + "lost", counters.lost);
    report.line(name + "down", counters.down);
    report.line(name + "fcs errors", counters.fcs_errors);
    report.line(name + "duplicated", counters.duplicated);
    report.line(name + "reordered", counters.reordered);
    report.line(name + "flipped", counters.flipped);
    report.line(name + "on the way", link.on_the_way());
}

inline void report_server(Report& report, size_t number, const Server& server) {
    const rdma::Counters& counters = server.nic().counters();
    const std::string name = "server" + std::to_string(number) + " ";
    report.line(name + "received", counters.received);
    report.line(name + "requests", counters.requests);
    report.line(name + "writes", counters.writes);
    report.line(name + "written bytes", counters.written_bytes);
    report.line(name + "reads", counters.reads);
    report.line(name + "read bytes", counters.read_bytes);
    report.line(name + "repeated", counters.repeated);
    report.line(name + "refused", counters.refused);
    report.line(name + "responses", counters.responses);
    report.line(name + "acks", counters.acks);
    for (size_t code = 0; code < counters.naks.size(); ++code) {
        report.if_any(name + "nak " + std::to_string(code), counters.naks[code]);
    }
    for (size_t drop = 0; drop < rdma::DROPS; ++drop) {
        report.if_any(name + "dropped: " + rdma::DROP_NAMES[drop], counters.drops[drop]);
    }
    report.line(name + "resets", server.resets());
    report.line(name + "host frames", server.host_frames());
}

template <class Nf>
void report_nf(Report& report, const NfHost<Nf>& nf) {
    const auto& counters = nf.counters();
    report.line("nf decided", counters.packets_in);
    report.line("nf sent", counters.sent);
    for (size_t reason = 1; reason < counters.dropped.size(); ++reason) {
        report.if_any("nf dropped: " + std::string(nf.reasons[reason]), counters.dropped[reason]);
    }
    report.line("nf held", nf.held());
    report.line("nf made", nf.made());
    report.line("nf bursts", nf.bursts());
    report.line("nf receive queue full", nf.refused());
    report.line("nf malformed frames", nf.malformed());
}

/// Where copies ended in a switch that runs a program, outside the program.
template <class SwitchT>
void report_switch(Report& report, const SwitchT& device) {
    const auto& drops = device.drops();
    report.line("switch too long", drops.too_long);
    report.line("switch ingress parser errors", drops.ingress_parser);
    report.line("switch dropped in ingress", drops.ingress_program);
    report.line("switch without a port", drops.no_port);
    report.line("switch empty groups", drops.empty_group);
    report.line("switch unknown ports", drops.unknown_port);
    report.line("switch unknown mirror sessions", drops.unknown_session);
    report.line("switch queues full", drops.queue_full);
    report.line("switch egress parser errors", drops.egress_parser);
    report.line("switch dropped in egress", drops.egress_program);
}

/// All of it.
template <class SwitchT, class Nf>
std::string report_of(const System<SwitchT, Nf>& system) {
    Report report;
    report_fates(report, system.ledger());
    report_nf(report, system.nf());
    for (const auto& link : system.links()) report_link(report, *link);
    for (size_t i = 0; i < system.servers(); ++i) report_server(report, i, system.server(i));
    report_switch(report, system.device());
    report.line("sweeps", system.sweeps());
    report.line("frames to ports without a cable", system.nowhere());
    report.line("events", system.events());
    report.line("time", system.now());
    return report.text();
}

}  // namespace polysome::system
