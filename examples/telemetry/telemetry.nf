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

  /// Packet by packet: a record begins with its flow's first packet, and counts each one to the last.
  property counted {
    for p in trace where p.in_port != collector
    let old = p.before.records[p.flow];
    let new = p.after.records[p.flow];
    let goes_on = p.flow in p.before.records and p.at - old.start < 30min;
    let ends = p.in.tcp.fin == 1 or p.in.tcp.rst == 1;
    expect new.last == p.at;
    expect not goes_on or new.start == old.start and new.packets == old.packets + 1
      and new.octets == old.octets + p.len and new.finished == (old.finished or ends);
    expect goes_on or new.start == p.at and new.packets == 1 and new.octets == p.len and new.finished == ends;
  }

  /// A record lives for 15 s after its flow's last packet, for 1 s if the flow has said that it ends.
  property remembered {
    for p, q in trace where p.in_port != collector and p.flow == q.flow
      and not evicted(records[p.flow], p.at..q.at + 1ns)
      and not (exists r in trace where p.number < r.number and r.number < q.number and r.flow == p.flow)
    let long = if p.after.records[p.flow].finished { 1s } else { 15s };
    expect (q.flow in q.before.records) == (q.at - p.at < long);
  }

  /// What the collector is told of a flow is what was, and why it ended, by the numbers of RFC 5102, section 5.11.3.
  property told {
    for e in emitted where e.flow_record
    let f = Flow {
      src: e.flow_record.src, dst: e.flow_record.dst, sport: e.flow_record.sport, dport: e.flow_record.dport,
      protocol: e.flow_record.protocol
    };
    let why = e.flow_record.end_reason;
    expect e.port == collector and ended(records[f], e.at..e.at + 1ns);
    expect why == 5 and ended(records[f], End.evicted, e.at..e.at + 1ns)
      or why == 2 and ended(records[f], End.removed, e.at..e.at + 1ns)
      or (why == 3 or why == 1)
      and (why == 3)
      == (exists p in trace where p.flow == f and (p.in.tcp.fin == 1 or p.in.tcp.rst == 1)
          and p.at as u64 >= e.flow_record.start and p.at as u64 <= e.flow_record.last)
      and ended(records[f], End.idle, e.at..e.at + 1ns);
    expect e.flow_record.packets >= 1
      and e.flow_record.packets <= count(p in trace where p.flow == f and p.at as u64 >= e.flow_record.start
                                           and p.at as u64 <= e.flow_record.last);
  }

  /// The collector is told of every flow that ended, once.
  property all_told {
    for p, q in trace where p.in_port != collector and p.flow == q.flow and not (p.flow in q.before.records)
      and not (exists r in trace where p.number < r.number and r.number < q.number and r.flow == p.flow)
    expect count(e in emitted where e.flow_record and e.at >= p.at and e.at <= q.at
                   and e.flow_record.last == p.at as u64 and e.flow_record.src == p.flow.src
                   and e.flow_record.dst == p.flow.dst and e.flow_record.sport == p.flow.sport
                   and e.flow_record.dport == p.flow.dport and e.flow_record.protocol == p.flow.protocol) == 1;
  }

  /// What is told is from this exporter to its collector.
  property addressed {
    for e in emitted
    let port = e.udp.dport - e.top_talker as u16;  // talkers come to the next one
    expect e.udp.sport == e.udp.dport;
    expect exists r in trace where e.ethernet.src == r.after.exporter.mac
      and e.ethernet.dst == r.after.exporter.collector_mac and e.ipv4.src == r.after.exporter.ip
      and e.ipv4.dst == r.after.exporter.collector_ip and port == r.after.exporter.port
      or e.ethernet.src == r.before.exporter.mac and e.ethernet.dst == r.before.exporter.collector_mac
      and e.ipv4.src == r.before.exporter.ip and e.ipv4.dst == r.before.exporter.collector_ip
      and port == r.before.exporter.port;
  }

  /// Each interval has its ten talkers, or as many as there were, with the numbers of their sources.
  property talkers_told {
    for e in emitted where e.top_talker and not (exists p in trace where p.len == 0B)
    let f = Flow {
      src: e.top_talker.src, dst: e.top_talker.dst, sport: e.top_talker.sport, dport: e.top_talker.dport,
      protocol: e.top_talker.protocol
    };
    let together = count(f in emitted where f.top_talker and f.at == e.at);
    expect e.top_talker.octets
           == (sum(p in trace where p.flow == f and p.in_port != collector and p.at < e.at
                     and e.at - p.at <= 10s: p.len) as u64);
    expect e.top_talker.octets_of_source
           >= (sum(p in trace where p.flow.src == f.src and p.in_port != collector and p.at < e.at
                     and e.at - p.at <= 10s: p.len) as u64);
    expect together <= 10 and together >= min(10, e.top_talker.flows);
  }

  /// And each interval in which there was something is told of.
  property talkers_come {
    for p, q in trace where p.in_port != collector and p.len > 0B and q.at - p.at >= 10s
    expect exists e in emitted where e.top_talker and e.at >= p.at and e.at <= q.at;
  }

  /// As few sources as there are in a test are counted one by one.
  property sources_counted {
    for q in trace
    let there = distinct(p in trace where p.number <= q.number and p.in_port != collector: p.flow.src);
    expect q.after.hosts.estimate() <= there + 1 and there <= q.after.hosts.estimate() + 1;
  }

  /// A source's bytes are those of the interval.
  property sources_weighed {
    for q in trace where q.in_port != collector
    expect q.before.sources.estimate(q.flow.src)
           <= (sum(p in trace where p.number < q.number and q.at - p.at <= interval: p.len) as u64);
  }

  /// The numbers of an interval are of that interval alone.
  property forgotten_each_interval {
    for q in trace where q.in_port != collector
    let first = not (q.flow in q.before.seen);
    expect q.before.flows <= distinct(p in trace where p.number < q.number and q.at - p.at <= interval: p.flow);
    expect q.before.talkers.estimate(q.flow)
           <= (sum(p in trace where p.number < q.number and p.flow == q.flow
                     and q.at - p.at <= interval: p.len) as u64);
    expect q.after.flows == q.before.flows + first as u64 and q.flow in q.after.seen
      and (first or q.before.flows > 0);
  }
}
