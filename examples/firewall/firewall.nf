/// A stateful firewall for IPv4 and IPv6: the inside opens connections, the outside answers (RFC 6092, section 3).
use net.l4;

nf firewall {
  port inside, outside;
  use nf.conntrack as ct { closed: 10s };

  relevant flow, quoted_flow, tcp.{syn, ack, fin, rst} when tcp, icmp.type when icmp, icmpv6.type when icmpv6;
  schedule { class flow; fifo; }

  /// Only what can be followed gets any further: TCP, UDP, an echo of these types, an error sent to whom it is about.
  action check(echo: u8, echo6: u8) {
    require ipv4 or ipv6 else drop "not IP";
    require l4 or icmp or icmpv6 else drop "later fragment or other protocol";
    if icmp.quoted.ipv4 or icmpv6.quoted.ipv6 {
      require flow.dst == quoted_flow.src else drop "ICMP error to somebody else";
    } else if icmp {
      require icmp.type == echo else drop "ICMP type not allowed";
    } else if icmpv6 {
      require icmpv6.type == echo6 else drop "ICMPv6 type not allowed";
    }
  }

  on packet from inside {
    check(IcmpType.echo_request, Icmpv6Type.echo_request);
    if icmp.quoted.ipv4 or icmpv6.quoted.ipv6 { ct.error_about(quoted_flow.reversed); } else { ct.open(); }
    send outside;
  }

  on packet from outside {
    check(IcmpType.echo_reply, Icmpv6Type.echo_reply);
    if icmp.quoted.ipv4 or icmpv6.quoted.ipv6 {
      ct.error_about(quoted_flow);                     // RFC 6092, REC-10
    } else {
      ct.answer();
    }
    send inside;
  }

  /// Nothing enters that nobody inside asked for.
  property unsolicited_blocked {
    for q in trace where q.sent and q.in_port == outside and q.flow.sport != 0
    expect exists p in trace where p.at <= q.at and p.sent and p.in_port == inside and p.flow == q.flow.reversed;
  }

  /// What answers a packet sooner than the shortest timeout passes.
  property replies_pass {
    for p, q in trace where p.sent and p.in_port == inside and q.in_port == outside and q.flow == p.flow.reversed
      and p.flow.protocol in {6, 17} and q.at - p.at < 10s
    expect q.sent or q.reason == "short frame";
  }

  property nothing_changes {
    for p in trace where p.sent and p.in.ip expect p.out.ip.dscp == p.in.ip.dscp and checksums_valid(p);
  }
}
