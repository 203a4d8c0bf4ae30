/// Source NAT for IPv4 (NAPT: RFC 3022, section 2.2), as RFC 4787 asks for UDP, RFC 5382 for TCP, RFC 5508 for ICMP.
/// A public endpoint is taken with its mapping and goes back with it.
use net.l4;

nf nat {
  port inside, outside;
  /// One mapping per inside endpoint, whatever the remote (RFC 4787, REQ-1); else one per pair (sections 4.1 and 5:
  /// "address and port-dependent").
  param endpoint_independent: bool = true;
  config pool_addresses: list<ipv4>;
  use test.nat { idle: 5min, tcp_idle: 124min, lowest: 1024, endpoint_independent: endpoint_independent };

  relevant ipv4.{src, dst, protocol, fragment_offset}, flow, quoted_flow, icmp.type when icmp else drop "not IPv4";

  state {
    free: pool<Endpoint> { from pool_addresses, 1024..65535; per ipv4.protocol; }
    out:  map<Flow, Endpoint from free> { capacity 1M; idle lifetime(key.protocol) max 124min; when full drop; }
    index back: out by (key.protocol, value, key.dst, key.dport);
  }
  schedule { class flow; fifo; }

  /// RFC 5382, REQ-5 (TCP); RFC 4787, REQ-5 (UDP); RFC 5508, REQ-2 (ICMP queries).
  fn lifetime(protocol: u8) -> duration {
    if protocol == IpProtocol.tcp { 124min } else if protocol == IpProtocol.udp { 5min } else { 60s }
  }

  /// The key of the mapping that a flow from inside uses: what does not tell mappings apart is zero.
  /// An ICMP query has one identifier for both ends (RFC 5508, section 3.1): it counts as the source port.
  fn mapping(f: Flow) -> Flow {
    let any_port = endpoint_independent or f.protocol == IpProtocol.icmp;
    Flow {
      src: f.src, dst: if endpoint_independent { :: } else { f.dst },
      sport: f.sport, dport: if any_port { 0 } else { f.dport }, protocol: f.protocol
    }
  }

  /// The same mapping, found by the flow as it is outside: from the public endpoint.
  fn by_public(f: Flow) -> (u8, Endpoint, ipv6, u16) {
    let m = mapping(f);
    (m.protocol, Endpoint { ip: m.src as ipv4, port: m.sport }, m.dst, m.dport)
  }

  fn translated(f: Flow, public: Endpoint) -> Flow {
    Flow { src: public.ip as ipv6, dst: f.dst, sport: public.port, dport: f.dport, protocol: f.protocol }
  }

  action check() {
    require ipv4.fragment_offset == 0 else drop "later fragment";
    require l4 or icmp else drop "not TCP, UDP or ICMP";
    if icmp {
      require icmp.quoted.ipv4 or icmp.type == IcmpType.echo_request or icmp.type == IcmpType.echo_reply
        else drop "ICMP type without translation";
    }
  }

  /// To the inside: `answer` is the flow that this packet answers, as it is outside.
  action deliver(answer: Flow) {
    let m = back[by_public(answer)] else drop "unsolicited";
    ipv4.dst = m.key.src as ipv4;
    if l4 { l4.dport = m.key.sport; } else if icmp { icmp.identifier = m.key.sport; }
    send inside;
  }

  /// To the inside, an ICMP error: `quote` is the flow it is about, as it is outside (RFC 5508, section 4.2.1).
  action deliver_error(quote: Flow) {
    let m = back.peek(by_public(quote)) else drop "ICMP error about no mapping";
    ipv4.dst = m.key.src as ipv4;
    icmp.quoted.ipv4.src = m.key.src as ipv4;
    if icmp.quoted.l4 { icmp.quoted.l4.sport = m.key.sport; }
    if icmp.quoted.icmp { icmp.quoted.icmp.identifier = m.key.sport; }
    send inside;
  }

  on packet from inside {
    check();
    if icmp.quoted.ipv4 {                                     // about something delivered (RFC 5508, section 4.2.2)
      let public = out.peek(mapping(quoted_flow.reversed)) else drop "ICMP error about no mapping";
      ipv4.src = public.ip;
      icmp.quoted.ipv4.dst = public.ip;
      if icmp.quoted.l4 { icmp.quoted.l4.dport = public.port; }
      if icmp.quoted.icmp { icmp.quoted.icmp.identifier = public.port; }
      if ipv4.dst in pool_addresses { deliver_error(translated(quoted_flow.reversed, public).reversed); }
      send outside;
    }
    let public = out[mapping(flow)] else {
      let taken = free.take() else drop "no free port";
      out[mapping(flow)] = taken;
      taken
    };
    ipv4.src = public.ip;
    if l4 { l4.sport = public.port; } else if icmp { icmp.identifier = public.port; }
    require ipv4.dst in pool_addresses else send outside;
    require l4 else drop "hairpinned ICMP query";             // it has one identifier, not two (RFC 5508, REQ-7)
    deliver(translated(flow, public).reversed);               // hairpinning (RFC 4787, REQ-9)
  }

  on packet from outside {
    check();
    if icmp.quoted.ipv4 { deliver_error(quoted_flow); }
    deliver(flow.reversed);
  }

  /// Nobody outside sees an address of the inside: what is there is, or was, a public one.
  property public_addresses_only {
    for p in trace where p.sent and p.out_port == outside
    expect exists r in trace where r.number <= p.number and p.out.ipv4.src in r.before.pool_addresses;
  }

  /// Every public endpoint is free or part of a mapping: none leaks.
  property none_leaks {
    for p, q in trace where p.number + 1 == q.number and q.changes == 0 and p.in.ipv4 and q.in.ipv4
      and p.in.ipv4.protocol == q.in.ipv4.protocol
    expect p.after.free.len + count(m in p.after.out where m.key.protocol == p.in.ipv4.protocol)
           == q.after.free.len + count(m in q.after.out where m.key.protocol == q.in.ipv4.protocol);
  }

  /// Later fragments have no ports to translate: they are dropped, and counted as what they are, like all but IPv4.
  property later_fragments_are_told {
    for p in trace where p.in.ipv4.fragment_offset != 0 expect p.reason == "later fragment";
    for p in trace where not p.in.ipv4 expect p.reason == "not IPv4";
  }

  /// What has neither ports nor an identifier is told by its own reason, and nothing else is.
  property reasons {
    for p in trace where p.in.ipv4 and p.in.ipv4.fragment_offset == 0 and not p.held and not (p.reason == "short frame")
    let query = p.in.icmp.type == IcmpType.echo_request or p.in.icmp.type == IcmpType.echo_reply;
    expect (p.reason == "not TCP, UDP or ICMP") == not (p.in.l4 or p.in.icmp);
    expect (p.reason == "ICMP type without translation")
           == (p.in.icmp and not p.in.icmp.quoted.ipv4 and not query);
  }

  /// Inside hosts reach each other by their public endpoints, and see each other by them (RFC 4787, REQ-9).
  property hairpins {
    for p, q in trace where p.sent and p.in_port == inside and p.out_port == outside and p.in.l4 and q.in.l4
      and q.in_port == inside and p.flow.protocol == q.flow.protocol and p.number < q.number
      and (q.flow.dst, q.flow.dport) == (p.out.flow.src, p.out.flow.sport) and q.in.ipv4.fragment_offset == 0
      and endpoint_independent and mapping(q.flow) in q.before.out and q.in.ipv4.dst in q.before.pool_addresses
      and q.before.out[mapping(p.flow)] == Endpoint { ip: p.out.ipv4.src, port: p.out.flow.sport } and not q.held
    expect q.reason == "short frame"
      or q.out_port == inside and (q.out.flow.dst, q.out.flow.dport) == (p.flow.src, p.flow.sport)
      and q.out.ipv4.src == q.before.out[mapping(q.flow)].ip;
  }

  /// What goes elsewhere goes out, and whoever has a mapping gets its packets there.
  property goes_out {
    for p in trace where p.in_port == inside and p.in.ipv4.fragment_offset == 0 and not p.in.icmp.quoted.ipv4
      and (p.in.l4 or p.in.icmp.type == IcmpType.echo_request or p.in.icmp.type == IcmpType.echo_reply)
      and mapping(p.flow) in p.before.out and not p.held and not (p.reason == "short frame")
    let to_a_public_one = p.in.ipv4.dst in p.before.pool_addresses;
    expect (p.out_port == outside) == not to_a_public_one;
    expect (p.reason == "hairpinned ICMP query") == (to_a_public_one and p.in.icmp);
  }

  /// An ICMP error about a packet reaches who sent it, and quotes it as it was there, whichever way it went: out, in or
  /// from one inside host to another.
  property errors_come_back {
    for p, e in trace where p.sent and not p.in.icmp.quoted.ipv4 and p.number < e.number
      and (e.in.icmp.quoted.l4 or e.in.icmp.quoted.icmp.type == p.in.icmp.type)
      and e.quoted_flow == p.out.flow and e.in_port == p.out_port and e.in.ipv4.dst == p.out.ipv4.src
      and (p.in_port == outside
           or e.before.out[mapping(p.flow)] == Endpoint { ip: p.out.ipv4.src, port: p.out.flow.sport })
      and (p.out_port == outside
           or e.before.out[mapping(p.out.flow.reversed)] == Endpoint { ip: p.in.ipv4.dst, port: p.flow.dport })
      and (p.out_port == outside or (e.in.ipv4.dst in e.before.pool_addresses) == (p.in_port == inside))
      and e.in.ipv4.fragment_offset == 0 and not e.held and not (e.reason == "short frame")
    expect e.out_port == p.in_port and e.out.ipv4.dst == p.in.ipv4.src and e.out.quoted_flow == p.flow
      and (p.out_port == outside or e.out.ipv4.src == p.in.ipv4.dst);
  }

  /// A mapping is there for exactly as long as its protocol says, from the last packet on that used it: one from its
  /// inside endpoint, or one to its public endpoint. ICMP errors do not use it.
  property remembered {
    for p, q in trace where p.sent and p.in_port != p.out_port and p.changes == q.changes
      and not p.in.icmp.quoted.ipv4
      and not (exists r in trace where p.number < r.number and r.number < q.number and not r.in.icmp.quoted.ipv4
               and (r.flow.src == (if p.in_port == inside { p.flow.src } else { p.out.flow.dst })
                    or r.flow.dst == (if p.in_port == inside { p.out.flow.src } else { p.flow.dst })))
    let mapped = if p.in_port == inside { mapping(p.flow) } else { mapping(p.out.flow.reversed) };
    let long = if p.flow.protocol == 6 { 124min } else if p.flow.protocol == 17 { 300s } else { 60s };
    expect (mapped in q.before.out) == (q.at - p.at < long);
  }
}
