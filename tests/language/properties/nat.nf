/// A source NAT with one mapping per flow: the catalogue's properties of translation.
use net.l4;

nf nat {
  port inside, outside;
  param lowest: u16 = 1024;
  config addresses: list<ipv4>;

  state {
    free: pool<Endpoint> { from addresses, 1024..65535; per ipv4.protocol; }
    out:  map<Flow, Endpoint from free> { capacity 64K; idle 60s; when full drop; }
    index back: out by (key.protocol, value, key.dst, key.dport);
  }

  fn answered(f: Flow) -> (u8, Endpoint, ipv6, u16) {
    (f.protocol, Endpoint { ip: f.dst as ipv4, port: f.dport }, f.src, f.sport)
  }

  on packet from inside {
    require ipv4 and l4 else drop "not translatable";
    let public = out[flow] else {
      let taken = free.take() else drop "no free port";
      out[flow] = taken;
      taken
    };
    ipv4.src = public.ip;
    l4.sport = public.port;
    send outside;
  }

  on packet from outside {
    require ipv4 else drop "not translatable";
    if icmp.quoted.l4 {
      let quoted = Endpoint { ip: icmp.quoted.ipv4.src, port: icmp.quoted.l4.sport };
      let m = back[(icmp.quoted.ipv4.protocol, quoted, icmp.quoted.ipv4.dst as ipv6, icmp.quoted.l4.dport)]
        else drop "unsolicited";
      ipv4.dst = m.key.src as ipv4;
      icmp.quoted.ipv4.src = m.key.src as ipv4;
      icmp.quoted.l4.sport = m.key.sport;
      send inside;
    }
    require l4 else drop "not translatable";
    let m = back[answered(flow)] else drop "unsolicited";
    ipv4.dst = m.key.src as ipv4;
    l4.dport = m.key.sport;
    send inside;
  }

  property injective {
    for p in trace
    expect forall m in p.after.out where
             forall n in p.after.out where m.key == n.key or m.key.protocol != n.key.protocol or m.value != n.value;
  }

  property inverse {
    for q in trace where q.sent and q.in_port == outside and q.in.l4
    expect exists p in trace where p.number < q.number and p.sent and p.in_port == inside
      and p.in.ipv4.protocol == q.in.ipv4.protocol and p.out.flow == q.in.flow.reversed
      and p.in.flow == q.out.flow.reversed;
  }

  property ports_come_from_the_range {
    for p in trace where p.sent and p.in_port == inside
    expect p.out.l4.sport >= lowest and p.out.ipv4.src in p.before.addresses;
  }

  property exhaustion_spares_the_living {
    for q in trace where q.reason == "no free port"
    expect q.dropped and not (q.flow in q.before.out) and q.before.out.len == q.after.out.len
      and (forall m in q.before.out where q.after.out[m.key] == m.value);
  }

  property ports_return_at_expiry {
    for p in trace
    expect p.after.free.len + count(m in p.after.out where m.key.protocol == p.in.ipv4.protocol)
           == p.after.addresses.len * 64512 or not p.in.ipv4;
    for p, q in trace where p.sent and q.sent and p.in_port == inside and q.in_port == inside and p.flow != q.flow
      and p.in.ipv4.protocol == q.in.ipv4.protocol and p.out.ipv4.src == q.out.ipv4.src
      and p.out.l4.sport == q.out.l4.sport
    expect ended(out[p.flow], End.idle, p.at..q.at + 1ns);
  }

  property icmp_errors_are_translated_inside {
    for q in trace where q.sent and q.in_port == outside and q.in.icmp.quoted.l4
    expect q.out.icmp.quoted.ipv4.src == q.out.ipv4.dst and checksums_valid(q)
      and (exists p in trace where p.sent and p.in_port == inside and p.in.ipv4.src == q.out.icmp.quoted.ipv4.src
           and p.in.l4.sport == q.out.icmp.quoted.l4.sport and p.out.l4.sport == q.in.icmp.quoted.l4.sport);
  }

  property udp_zero_stays_zero {
    for p in trace where p.sent and p.in.udp expect (p.in.udp.checksum == 0) == (p.out.udp.checksum == 0);
  }
}
