/// A probe in the line: packets pass as they are, and a collector learns which flows there were.
/// Names and meanings are those of IPFIX (RFC 7011, RFC 7012); the encoding is a header of our own.
use net.l4;

/// flowEndReason, information element 136.
enum FlowEnd: u8 { idle_timeout = 1, active_timeout = 2, end_of_flow = 3, lack_of_resources = 5 }

/// One flow, after its end. Times are ns since 1970, flowStartNanoseconds and flowEndNanoseconds.
header flow_record {
  src: ipv6;  dst: ipv6;  sport: u16;  dport: u16;  protocol: u8;
  end_reason: u8;
  start: u64;  last: u64;
  octets: u64;  packets: u64;
}

/// One of the flows with the most bytes in an interval, the largest first.
header top_talker {
  src: ipv6;  dst: ipv6;  sport: u16;  dport: u16;  protocol: u8;
  octets: u64;                    // of this flow in the interval; never too low
  octets_of_source: u64;          // of everything that its source sent in the interval; never too low
  flows: u64;                     // that had a packet in the interval; at most 1 % too few
  hosts: u64;                     // different sources since the start, about
}

struct Record { start: time, last: time, octets: bytes, packets: u64, finished: bool }
struct Exporter { mac: mac, ip: ipv4, collector_mac: mac, collector_ip: ipv4, port: u16 }

nf telemetry {
  port lan, wan, collector;
  config exporter: Exporter;
  use test.telemetry;
  param idle_timeout:   duration = 15s;         // flowIdleTimeout
  param active_timeout: duration = 30min;       // flowActiveTimeout
  param linger:         duration = 1s;          // after a FIN or RST, for what still follows
  param interval:       duration = 10s;

  relevant flow, tcp.{fin, rst} when tcp;

  state {
    records: map<Flow, Record> {
      capacity 1M; idle if value.finished { linger } else { idle_timeout } max max(linger, idle_timeout);
      when full evict oldest;
    }
    talkers: top_k<Flow> { k 10; error 0.1%; }
    sources: count_min<ipv6> { error 0.1%; confidence 99%; }
    seen:    bloom<Flow> { capacity 1M; error 1%; }
    hosts:   hyperloglog<ipv6> { error 2%; }
    flows:   u64;
  }

  action account() {
    talkers.add(flow, len as u64);
    sources.add(flow.src, len as u64);
    hosts.add(flow.src);
    if not (flow in seen) { flows += 1; }
    seen.add(flow);
    if let old = records[flow] {
      if now - old.start >= active_timeout { remove records[flow]; }
    }
    let r = records[flow] else Record { start: now, last: now, octets: 0B, packets: 0, finished: false };
    let ends = if tcp { tcp.fin == 1 or tcp.rst == 1 } else { false };
    records[flow] = Record {
      start: r.start, last: now, octets: r.octets + len, packets: r.packets + 1, finished: r.finished or ends
    };
  }

  on packet from lan { account(); send wan; }
  on packet from wan { account(); send lan; }

  on end records(f, r, why) {
    let reason: u8 =
      if why == End.evicted { FlowEnd.lack_of_resources }
      else if why == End.removed { FlowEnd.active_timeout }
      else if r.finished { FlowEnd.end_of_flow }
      else { FlowEnd.idle_timeout };
    emit ethernet { src: exporter.mac, dst: exporter.collector_mac },
         ipv4 { src: exporter.ip, dst: exporter.collector_ip },
         udp { sport: exporter.port, dport: exporter.port },
         flow_record {
           src: f.src, dst: f.dst, sport: f.sport, dport: f.dport, protocol: f.protocol, end_reason: reason,
           start: r.start as u64, last: r.last as u64, octets: r.octets as u64, packets: r.packets
         } to collector;
  }

  every interval {
    for f, octets in talkers {
      emit ethernet { src: exporter.mac, dst: exporter.collector_mac },
           ipv4 { src: exporter.ip, dst: exporter.collector_ip },
           udp { sport: exporter.port + 1, dport: exporter.port + 1 },
           top_talker {
             src: f.src, dst: f.dst, sport: f.sport, dport: f.dport, protocol: f.protocol, octets: octets,
             octets_of_source: sources.estimate(f.src), flows: flows, hosts: hosts.estimate()
           } to collector;
    }
    talkers.clear();
    sources.clear();
    seen.clear();
    flows = 0;
  }

  property every_flow_has_a_record {
    for p in trace where p.sent expect p.flow in p.after.records;
  }

  property sketches_never_count_too_low {
    for p in trace where p.sent
    expect p.after.talkers.estimate(p.flow) >= p.len as u64 and p.after.sources.estimate(p.flow.src) >= p.len as u64;
  }
}
