/// A stateful firewall for IPv4 and IPv6: the inside opens connections, the outside answers (RFC 6092, section 3).
use net.l4;

nf firewall {
  port inside, outside;
  use nf.conntrack as ct { closed: 10s };
  use test.firewall { idle: 10s, longest: 124min, answers_refresh: true };

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

  /// What opens a connection leaves: a SYN, any UDP, a ping. And whatever is dropped is dropped for what it is.
  property the_inside_gets_out {
    for p in trace where p.in_port == inside and not full(p.at..p.at + 1ns)
      and (p.in.udp or p.in.tcp.syn == 1 and p.in.tcp.ack == 0 or p.in.icmp.type == IcmpType.echo_request
           or p.in.icmpv6.type == Icmpv6Type.echo_request)
    expect p.sent or p.reason == "short frame";
    for p in trace
    expect (p.reason == "not IP") == (not p.in.ipv4 and not p.in.ipv6)
      and (p.reason == "later fragment or other protocol")
      == ((p.in.ipv4 or p.in.ipv6) and not p.in.l4 and not p.in.icmp and not p.in.icmpv6);
  }

  /// An ICMP error about a packet that passed gets to whoever sent that packet, in both directions.
  property errors_get_through {
    for p, q in trace where p.sent and p.in.l4 and q.in_port == p.out_port and q.at - p.at < 10s
      and (q.in.icmp.quoted.ipv4 or q.in.icmpv6.quoted.ipv6) and q.quoted_flow == p.flow and q.flow.dst == p.flow.src
      and not full(p.at..p.at + 1ns)
    expect q.sent or q.reason == "short frame";
  }

  /// A TCP connection begins with a SYN from inside, without which nothing of it passes.
  property begins_with_a_syn {
    for q in trace where q.sent and q.in.tcp
    expect exists p in trace where p.number <= q.number and p.in_port == inside and p.in.tcp.syn == 1
      and p.in.tcp.ack == 0 and (p.flow == q.flow and q.in_port == inside
                                 or p.flow == q.flow.reversed and q.in_port == outside);
  }

  /// Who is pinged from inside may answer.
  property pings_are_answered {
    for p, q in trace where p.sent and p.in_port == inside and q.in_port == outside and q.flow == p.flow.reversed
      and (p.in.icmp.type == IcmpType.echo_request and q.in.icmp.type == IcmpType.echo_reply
           or p.in.icmpv6.type == Icmpv6Type.echo_request and q.in.icmpv6.type == Icmpv6Type.echo_reply)
      and q.at - p.at < 2min
    expect q.sent or q.reason == "short frame";
  }

  /// Only what can be answered, or answers, crosses: an echo request from inside, an echo reply from outside.
  property other_icmp_stays_out {
    for p in trace where p.sent and p.in.icmp and not p.in.icmp.quoted.ipv4
    expect p.in.icmp.type == (if p.in_port == inside { IcmpType.echo_request } else { IcmpType.echo_reply });
    for p in trace where p.sent and p.in.icmpv6 and not p.in.icmpv6.quoted.ipv6
    expect p.in.icmpv6.type == (if p.in_port == inside { Icmpv6Type.echo_request } else { Icmpv6Type.echo_reply });
  }

  /// An ICMP error goes to whom it is about, if that is a connection, and keeps nothing alive.
  property errors_to_whom_they_concern {
    for q in trace where q.sent and (q.in.icmp.quoted.ipv4 or q.in.icmpv6.quoted.ipv6)
    expect q.flow.dst == q.quoted_flow.src
      and (if q.in_port == inside { q.quoted_flow.reversed } else { q.quoted_flow }) in q.before.ct.connections;
  }

  /// A connection that was closed, or reset, is forgotten after ten seconds.
  property closed_for_10s {
    for p, q in trace where p.sent and p.in.tcp and q.in.tcp and p.flow.canonical == q.flow.canonical
      and not (exists r in trace where p.number < r.number and r.number < q.number
               and r.flow.canonical == p.flow.canonical)
    let f = if p.flow in p.after.ct.connections { p.flow } else { p.flow.reversed };
    expect p.after.ct.connections[f].fins != 3 and p.in.tcp.rst == 0
      or (f in q.before.ct.connections) == (q.at - p.at < 10s);
  }
}
