/// A load balancer by turns: the catalogue's properties of spreading.
use net.l4;

struct Backend { ip: ipv4, mac: mac, zone: u8, weight: u32 }

nf load_balancer {
  port clients, servers;
  config backends: list<Backend>;

  state {
    sticky: map<Flow, ref backends> { capacity 4M; idle 30s; when full evict oldest; }
    turn:   u32;
  }

  on packet from clients {
    require ipv4 else drop "not IPv4";
    let backend = sticky[flow] else {
      let chosen = backends[turn % backends.len];
      turn += 1;
      sticky[flow] = chosen;
      chosen
    };
    ipv4.dst = backend.ip;
    ethernet.dst = backend.mac;
    send servers;
  }

  property affinity {
    for p, q in trace where p.sent and q.sent and p.flow == q.flow and no_gap(p.flow, 30s, p.at..q.at)
      and not evicted(sticky[p.flow])
      and (forall r in trace where r.at < p.at or r.at > q.at
           or (exists b in r.before.backends where b.ip == p.out.ipv4.dst))
    expect p.out.ipv4.dst == q.out.ipv4.dst;
  }

  property minimal_disruption {
    for p, q in trace where p.sent and q.sent and p.flow == q.flow and no_gap(p.flow, 30s) and not evicted(p.flow)
      and p.out.ipv4.dst != q.out.ipv4.dst
    expect exists r in trace where within(r.at, p.at..q.at + 1ns)
      and not (exists b in r.before.backends where b.ip == p.out.ipv4.dst);
  }

  property flows_of_the_gone_move {
    for p, q in trace where p.sent and q.sent and p.flow == q.flow
      and not (exists b in q.before.backends where b.ip == p.out.ipv4.dst)
    expect q.out.ipv4.dst != p.out.ipv4.dst and (exists b in q.before.backends where b.ip == q.out.ipv4.dst);
  }

  // Each backend of a zone has its share of the zone's flows, but for one in ten and one more.
  property share_error_bound {
    for b in backends
    let flows = distinct(p in trace where p.sent and (exists c in backends where c.zone == b.zone
                                                      and c.ip == p.out.ipv4.dst): p.flow);
    let own = distinct(p in trace where p.sent and p.out.ipv4.dst == b.ip: p.flow);
    let weights = sum(c in backends where c.zone == b.zone: c.weight);
    let share = flows * (b.weight as u64);
    expect own * weights * 10 <= share * 11 + weights * 10 and (own + 1) * weights * 10 >= share * 9;
  }

  property checksums_follow {
    for p in trace where p.sent expect checksums_valid(p);
  }
}
