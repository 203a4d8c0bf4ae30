/// A source NAT for IPv4 (NAPT: RFC 3022, section 2.2): many inside share public endpoints outside. What RFC 4787, 5382
/// and 5508 ask of every such NAT, seen from outside: whatever it remembers, and how, is its own business.
///
/// `inside` and `outside` are its ports. Static mappings ("port forwarding") are not for this.
///
/// It cannot know who may answer (filtering: RFC 4787, REQ-8), and says nothing of fragments, nor of protocols but TCP,
/// UDP and ICMP. What must pass is said of `ordinary` packets.
use net.flow;
use net.icmp;
use net.ip;
use test.ordinary;

block nat {
  port inside, outside;
  /// How long a UDP mapping lives after its last packet.
  param idle: duration;
  /// How long a TCP mapping lives at least after its last packet, and at most.
  param tcp_idle:    duration = idle;
  param tcp_longest: duration = tcp_idle;
  /// Public ports are from here to there, both included.
  param lowest:  u16 = 1;
  param highest: u16 = 65535;
  /// May two inside endpoints have one public endpoint, as long as they talk to different remotes?
  param overload: bool = false;
  /// Are ICMP errors about mapped flows translated (RFC 5508, REQ-4)?
  param icmp_errors: bool = true;
  /// Does a host's port have the same public endpoint for all remote ones (RFC 4787, REQ-1)?
  param endpoint_independent: bool = false;
  /// Is it meant that a full table throws out old mappings?
  param evicts: bool = false;

  use test.checksums;

  fn lives(protocol: u8) -> duration { if protocol == IpProtocol.tcp { tcp_idle } else { idle } }
  fn dies(protocol: u8) -> duration { if protocol == IpProtocol.tcp { tcp_longest } else { idle } }

  /// Two inside endpoints never have one public endpoint while both are in use: answers could not be told apart.
  /// So a public port is not given away again as long as its mapping may live.
  property injective {
    for p, q in trace where p.sent and q.sent and p.in_port == inside and q.in_port == inside
      and p.out_port == outside and q.out_port == outside and p.in.l4 and q.in.l4
      and p.flow.protocol == q.flow.protocol and (p.flow.src, p.flow.sport) != (q.flow.src, q.flow.sport)
      and (not overload or (p.flow.dst, p.flow.dport) == (q.flow.dst, q.flow.dport))
      and q.at - p.at < lives(p.flow.protocol) and p.changes == q.changes
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
    expect (p.out.flow.src, p.out.flow.sport) != (q.out.flow.src, q.out.flow.sport);
  }

  /// What comes in was asked for, and goes to whom asked: outside-in undoes inside-out.
  /// (Who asked may have lost the packet: also a short frame, which is then dropped, makes a mapping.)
  property inverse {
    for q in trace where q.sent and q.in_port == outside and q.out_port == inside and q.in.ipv4
      and (q.in.l4 or q.in.icmp.type in {IcmpType.echo_request, IcmpType.echo_reply})
    expect exists p in trace where p.number < q.number and p.in_port == inside
      and p.flow.protocol == q.flow.protocol and (p.flow.src, p.flow.sport) == (q.out.flow.dst, q.out.flow.dport)
      and (not p.sent or (p.out.flow.src, p.out.flow.sport) == (q.flow.dst, q.flow.dport));
  }

  /// Only an answer to something recent comes in: after its lifetime a mapping is gone.
  property expired_blocked {
    for q in trace where q.sent and q.in_port == outside and q.out_port == inside and q.in.l4
    expect exists p in trace where p.number < q.number and q.at - p.at < dies(q.flow.protocol)
      and p.flow.protocol == q.flow.protocol
      and (p.in_port == inside and (p.flow.src, p.flow.sport) == (q.out.flow.dst, q.out.flow.dport)
           or (p.flow.dst, p.flow.dport) == (q.flow.dst, q.flow.dport));
  }

  /// The answer to a packet reaches who sent it, for as long as mappings live.
  property replies_pass {
    for p, q in trace where p.sent and p.in_port == inside and p.out_port == outside and q.in_port == outside
      and q.flow == p.out.flow.reversed and p.in.l4 and q.in.l4 and not q.fragment
      and q.at - p.at < lives(p.flow.protocol) and p.changes == q.changes
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and not q.held and not (q.reason == "short frame")
      and ordinary(q) and between_hosts(p) and goes_on(q) and not (q.in.tcp.ack == 0)
      and q.in.ethernet.dst == p.out.ethernet.src
    expect q.out_port == inside and (q.out.flow.dst, q.out.flow.dport) == (p.flow.src, p.flow.sport);
  }

  /// A flow keeps its public endpoint as long as it lives, and is never refused: when endpoints run out, new flows are
  /// dropped, and live ones do not notice.
  property live_flows_stay {
    for p, q in trace where p.sent and p.in_port == inside and p.out_port == outside and q.in_port == inside
      and q.flow == p.flow and p.in.l4 and q.in.l4 and p.fragment == q.fragment and p.in.ipv4.ttl == q.in.ipv4.ttl
      and q.at - p.at < lives(p.flow.protocol) and p.changes == q.changes
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and not q.held and not (q.reason == "short frame")
      and ordinary(q) and between_hosts(p) and goes_on(q) and q.in.ethernet.dst == p.in.ethernet.dst
    expect q.out_port == outside and q.out.flow == p.out.flow;
  }

  /// A NAT that is full refuses who is new. It never throws out who is there.
  property living_are_spared {
    for q in trace where not evicts expect not evicted(q.at..q.at + 1ns);
  }

  /// Whoever a host's port talks to, it has one public endpoint (RFC 4787, REQ-1): else games, calls and all that meets
  /// through a third party fail.
  property one_endpoint_per_port {
    for p, q in trace where endpoint_independent and p.sent and q.sent and p.in_port == inside and q.in_port == inside
      and p.out_port == outside and q.out_port == outside and p.in.l4 and q.in.l4
      and p.flow.protocol == q.flow.protocol and (p.flow.src, p.flow.sport) == (q.flow.src, q.flow.sport)
      and q.at - p.at < lives(p.flow.protocol) and p.changes == q.changes
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
    expect (p.out.flow.src, p.out.flow.sport) == (q.out.flow.src, q.out.flow.sport);
  }

  /// Nothing goes back to where it came from, but from one host of the inside to another by their public endpoints.
  /// (Who has a public endpoint may have got it with a packet that was lost later; and an ICMP error may be about it
  /// wherever it goes.)
  property never_back {
    for p in trace where p.sent and p.in_port in p.ports
    expect p.in_port == inside and (exists r in trace where r.number <= p.number and r.in_port == inside
                                    and (not r.sent or r.out.flow.src == p.flow.dst
                                         or p.in.icmp.quoted.ipv4 and r.out.flow.src == p.quoted_flow.src));
  }

  /// Public ports are from the range that they should be from.
  property ports_in_range {
    for p in trace where p.sent and p.in_port == inside and p.out_port == outside and p.in.l4
    expect lowest <= p.out.flow.sport and p.out.flow.sport <= highest;
  }

  /// Going out, only the source changes; coming in, only the destination.
  property only_endpoints_change {
    for p in trace where p.sent and p.in.ipv4 and not p.in.icmp
    expect p.out.payload == p.in.payload and p.out.len == p.in.len and p.out.ipv4.dscp == p.in.ipv4.dscp
      and p.out.ipv4.ecn == p.in.ipv4.ecn and p.out.ipv4.identification == p.in.ipv4.identification
      and p.out.ipv4.dont_fragment == p.in.ipv4.dont_fragment and p.out.ipv4.ttl <= p.in.ipv4.ttl
      and p.out.flow.protocol == p.flow.protocol
      and (p.out_port == inside or (p.out.flow.dst, p.out.flow.dport) == (p.flow.dst, p.flow.dport))
      and (p.in_port == inside or (p.out.flow.src, p.out.flow.sport) == (p.flow.src, p.flow.sport));
  }

  /// A TCP segment is otherwise what it was.
  property tcp_unchanged {
    for p in trace where p.sent and p.in.tcp
    expect p.out.tcp.sequence == p.in.tcp.sequence and p.out.tcp.acknowledgement == p.in.tcp.acknowledgement
      and p.out.tcp.window == p.in.tcp.window and p.out.tcp.options == p.in.tcp.options
      and p.out.tcp.syn == p.in.tcp.syn and p.out.tcp.ack == p.in.tcp.ack and p.out.tcp.fin == p.in.tcp.fin
      and p.out.tcp.rst == p.in.tcp.rst;
  }

  /// An ICMP error about a packet that went out reaches who sent that packet, and quotes it as it was inside: else
  /// path MTU discovery and traceroute break, and nobody learns that a port is closed.
  property icmp_errors_translated {
    for p, q in trace where icmp_errors and p.sent and p.in_port == inside and p.out_port == outside and p.in.l4
      and q.in_port == outside and q.quoted_flow == p.out.flow and q.flow.dst == p.out.flow.src
      and q.in.icmp.type in {IcmpType.unreachable, IcmpType.time_exceeded, IcmpType.parameter_problem}
      and q.in.icmp.quoted.l4 and not q.fragment and checksums_valid(q.in)
      and q.at - p.at < lives(p.flow.protocol) and p.changes == q.changes
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and not q.held and not (q.reason == "short frame")
      and ordinary(q) and between_hosts(p) and q.in.ethernet.dst == p.out.ethernet.src
    expect q.out_port == inside and q.out.flow.dst == p.flow.src and q.out.quoted_flow == p.flow;
  }

  /// No ICMP error comes in that is about nothing, and none goes to somebody whom it is not about.
  property icmp_errors_about_something {
    for q in trace where q.sent and q.in_port == outside and q.out_port == inside and q.in.icmp.quoted.ipv4
    expect q.out.quoted_flow.src == q.out.flow.dst
      and (exists p in trace where p.number < q.number and p.in_port == inside and p.flow.src == q.out.flow.dst
           and (not q.in.icmp.quoted.l4 or p.flow.protocol == q.quoted_flow.protocol
                and p.flow.sport == q.out.quoted_flow.sport)
           and (not p.sent or p.out.flow.src == q.quoted_flow.src));
  }
}
