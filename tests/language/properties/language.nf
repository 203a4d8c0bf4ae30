/// Everything that section 12 of the manual says, once: each property is named after its rule.
use net.l4;
use nf.conntrack;

struct Plan { rate: bitrate, burst: bytes }
struct Meter { octets: bytes, packets: u64, bucket: token_bucket(1Mbps, 64KB) }
header note { number: u32; }

nf language {
  port a, b;
  param limit: bitrate = 1Mbps;
  param edge: u64 = 4;
  config plans: map<ipv4, Plan>;
  config routes: lpm<ipv4, port>;
  config addresses: list<ipv4>;
  config servers: maglev<ipv4>;
  config default_plan: Plan = Plan { rate: 1Mbps, burst: 4KB };
  use nf.conntrack as ct;

  state {
    total:  bytes;
    slots:  array<u32>[16];
    free:   pool<u16> { from 1024..65535; }
    meters: map<Flow, Meter> { capacity 1K; idle 30s; when full evict oldest; }
    leases: map<ipv4, u16 from free> { capacity 1K; idle 30s; when full drop; }
    hosts:  set<ipv6> { capacity 1K; age 1h; when full pass; }
    index by_port: leases by value;
    octets: count_min<Flow> { error 1%; confidence 99%; }
    seen:   bloom<Flow> { capacity 1K; error 1%; }
    top:    top_k<Flow> { k 10; error 1%; }
  }

  fn half(n: u64) -> u64 { n / 2 }

  on packet from a { ct.open(); send b; }
  on packet from b { send ports - in_port; }

  property L12_2_items {
    let window = 10s;
    for p, q, r in trace where q.at - p.at < window
    let f = p.flow;
    let wide = if r.sent { r.out.len } else { 0B };
    for s in trace where s.flow == f and s.len > wide
    expect s.at - p.at > window;
    expect p != q;
  }

  property L12_3_undefined {
    for p in trace where p.in.tcp and not p.in.vlan[0] and p.in.icmp.quoted.l4.sport == 53
    expect not (p.out.ipv4.ttl < p.in.ipv4.ttl) or p.out.ipv4.ttl != p.in.ipv4.ttl;
  }

  property L12_4_attributes {
    for p, q in trace where p.sent and q.dropped and not p.held and q.reason in {"unsolicited", "no connection"}
    expect p.at <= p.left and p.number < q.number and p.place == 0 and p.in_port == a and p.out_port in p.ports
      and p.ports == {a, b} and p.ports.len == 2 and p.class == q.class and p.flow.reversed == q.flow.canonical
      and p.fragment and p.len >= 64B and hash(p.flow) != half(edge) and p.flow.sport[15:8] == 0;
  }

  property L12_5_on_the_wire {
    for p in trace
    expect p.in.ip.dscp == p.out.ip.dscp and p.in.vlan[1].ether_type == p.out.vlan[0].ether_type and p.in.l4
      and p.in.len == p.out.len and p.in.payload == p.out.payload and p.in.payload.len == p.out.payload.len
      and p.in.payload[0..4] == 0x47455420 and p.in.payload[0..16] == p.out.payload[0..16]
      and p.in.payload[0..20] == p.out.payload[0..20] and p.in.ipv4.options == p.out.ipv4.options
      and p.in.ipv4.options[0..4] == 0 and p.in.ipv4.options.len == 4B and p.in.ipv4.src in 10.0.0.0/8
      and p.in.flow == p.out.flow.reversed and p.in.ethernet.src[47:40] == 2
      and p.in.icmp.quoted.ipv4.src == p.in.ipv4.dst and p.in == p.out;
  }

  property L12_6_emitted {
    for e, f in emitted where e.at < f.at and e.port == a and e.cause.sent
    expect e.note and e.note.number < f.note.number and e.ipv4.src == e.cause.in.ipv4.dst and e.l4.dport == 53
      and e.len == 60B and e.payload[0..2] == 7 and e.flow == f.cause.flow and e.vlan[0].ether_type == 0
      and (exists p in trace where e.cause == p) and count(g in emitted where g.cause == e.cause) == 1;
  }

  property L12_7_snapshots {
    for p, q in trace
    expect p.after.total - p.before.total == p.len and p.after.slots[edge] == p.before.slots[p.flow.sport as u64]
      and p.after.meters[q.flow].octets <= p.after.total and q.flow in p.after.meters and p.after.meters.len <= 1K
      and p.flow.src in p.before.hosts and p.flow in p.after.seen and p.after.free.len + p.after.leases.len == 64512
      and p.after.octets.estimate(p.flow) <= p.after.total as u64
      and p.after.leases[10.0.0.1] == p.before.slots[0] as u16
      and p.after.by_port[1024].key == 10.0.0.1 and p.after.leases.peek(10.0.0.1) == 1024
      and p.flow in p.after.ct.connections and p.after.ct.connections[p.flow].phase == Phase.opening
      and p.after.ct.connections.len == 1 and 1024 in p.after.by_port and p.before.meters[p.flow].bucket.has(64B);
  }

  property L12_7_config {
    for p in trace where p.in.ipv4.src in plans and p.in.ipv4.src in p.before.plans
    expect p.before.plans[p.in.ipv4.src].rate <= default_plan.rate and plans[10.0.0.1].rate <= limit
      and p.before.routes[p.in.ipv4.dst] == p.out_port and routes[10.0.0.1] == a and addresses[0] == p.in.ipv4.src
      and p.before.addresses[1] in addresses and addresses.len == p.before.addresses.len
      and p.before.servers[hash(p.flow)] == p.out.ipv4.dst and p.before.default_plan == default_plan
      and ct.closed < ct.opening;
  }

  property L12_8_quantifiers {
    for p in trace
    for k, m in p.after.meters where m.octets > 0B
    for entry in p.after.meters
    for host in p.after.hosts
    for out in p.ports
    for source, plan in plans
    expect (exists r in trace where r.flow == k) and (forall x in addresses where x != 0.0.0.0)
      and (exists t in p.after.top where t.key == k and t.value > m.packets) and entry.value.packets >= 1
      and host != :: and out != p.in_port and plan.rate <= limit and source in 10.0.0.0/8;
  }

  property L12_9_aggregates {
    for p, q in trace where p.at < q.at
    expect count(r in trace) >= count(r in trace where r.flow == p.flow) and sum(r in trace where r.sent: r.len) > 0B
      and sum(r in trace: r.in.ipv4.ttl) > 64 and min(r in trace where r.sent: r.left) >= p.at
      and max(r in trace: r.in.ipv4.src) <= 10.0.0.9 and distinct(r in trace where r.dropped: r.reason) < 5
      and max(p.len, q.len) / (q.at - p.at) <= limit and count(x in addresses where x in 10.0.0.0/8) == addresses.len;
  }

  property L12_10_windows {
    for p, q in trace where within(q.len, 64B..128B)
    expect bytes(p.flow, p.at..q.at) / (q.at - p.at) <= limit and bytes(class: p.class, p.left..q.left) <= 64KB
      and packets(p.flow, p.at - 1s..p.at) == 0 and packets(p.flow, p.at..q.at) / (q.at - p.at) <= 1Kpps
      and within(q.at, p.at..p.at + 1s) and no_gap(p.flow, 30s) and no_gap(p.flow, 30s, p.at..q.at);
  }

  property L12_11_ends {
    for p, q in trace
    expect evicted(meters[p.flow]) and evicted(p.in.ipv4.src) and evicted(p.flow, p.at..q.at) and ended(p.flow.src)
      and ended(meters[p.flow], End.idle) and ended(ct.connections[p.flow], End.removed, p.at..q.at)
      and ended(hosts[p.flow.src], p.at..q.at);
  }

  property L12_12_checksums {
    for p in trace expect checksums_valid(p) and checksums_valid(p.out) or not checksums_valid(p.in);
    for e in emitted expect checksums_valid(e) and checksums_valid(e.cause) and checksums_valid(e.cause.out);
  }

  property L12_13_runs {
    expect outputs(engine: native, batch: 32, cores: 4) == outputs(engine: interp) and outputs(steps: 10) == outputs()
      and outputs(split: true, scramble: true) == outputs(split: false, scramble: false)
      and outputs(jump: 1h, ties: 4, capacity: 2, collisions: true) != outputs()
      and outputs(engine: system, faults: {loss, reordering}) <= outputs(engine: system, faults: duplication);
  }
}
