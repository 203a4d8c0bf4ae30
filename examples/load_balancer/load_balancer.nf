/// A stateful layer-4 load balancer (Ribosome, NSDI'23, section 4).
use net.l4;

struct Backend { ip: ipv4, mac: mac, uplink: port }

nf load_balancer {
  port clients, servers;
  param vip: ipv4 = 10.0.0.100;
  config backends: list<Backend>;
  use test.load_balancer { idle: 30s };

  relevant ipv4.{src, dst, protocol}, l4.{sport, dport} else drop "not TCP or UDP over IPv4";

  state {
    sticky: map<Flow, ref backends> { capacity 4M; idle 30s; when full evict oldest; }
    turn:   u32 per core;
  }
  schedule { class flow; fifo; }

  on packet {
    require ipv4.dst == vip else drop "not for the VIP";
    let backend = sticky[flow] else {
      let chosen = backends[turn % backends.len];
      turn += 1;
      sticky[flow] = chosen;
      chosen
    };
    ipv4.dst = backend.ip;
    ethernet.dst = backend.mac;
    send backend.uplink;
  }

  /// What is for the VIP goes to a backend, by its address, MAC and uplink; nothing else goes anywhere.
  property only_to_backends {
    for p in trace where p.sent
    expect p.in.ipv4.dst == vip
      and (exists b in p.before.backends where b.ip == p.out.ipv4.dst and b.mac == p.out.ethernet.dst
           and p.ports == {b.uplink});
  }

  /// Who is served is remembered for 30 s after the last packet, and not a nanosecond longer.
  property remembered {
    for p in trace where p.sent expect p.flow in p.after.sticky;
    for p, q in trace where p.sent and p.flow == q.flow and p.changes == q.changes and not evicted(p.at..q.at + 1ns)
      and q.in.ipv4.dst == vip
      and not (exists r in trace where p.number < r.number and r.number < q.number and r.flow == p.flow)
    expect (q.flow in q.before.sticky) == (q.at - p.at < 30s);
  }

  /// New flows go to the backends in turn, and none is refused as long as there is one.
  property in_turn {
    for p in trace where p.in.ipv4.dst == vip and p.in.l4 and p.before.backends.len > 0
    expect p.sent or p.reason == "short frame";
    for p in trace where p.sent and not (p.flow in p.before.sticky)
    expect p.out.ipv4.dst == p.before.backends[p.before.turn % p.before.backends.len].ip
      and p.after.turn == p.before.turn + 1;
  }
}
