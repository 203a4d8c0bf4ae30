/// A layer-4 load balancer for IPv4: packets of clients get the address (or the MAC) of a server; a flow stays where it is.
/// What is balanced is a service: a destination address, protocol and port that clients use.
///
/// It cannot know the servers: that each gets its share, or gets any, is for the spec's own properties; so is how long
/// a flow is remembered beyond `idle`. What must pass is said of `ordinary` packets.
use net.flow;
use test.ordinary;

block load_balancer {
  /// Where the clients are.
  port clients;
  /// How long a flow without packets is remembered.
  param idle: duration;
  /// Is it remembered which server a flow has? If not, it follows from the flow alone (consistent hashing), and a change
  /// of servers may move some flows.
  param sticky: bool = true;
  /// The address that clients use, if there is one only: then nothing else is balanced.
  param service: ipv4 = 0.0.0.0;

  use test.checksums;

  /// While nothing is changed, all packets of a flow go to one server: the others do not know its connection.
  property affinity {
    for p, q in trace where p.sent and q.sent and p.in_port == clients and q.in_port == clients and p.flow == q.flow
      and p.in.l4 and q.in.l4 and p.fragment == q.fragment and q.at - p.at < idle and p.changes == q.changes
      and not full(p.at..p.at + 1ns) and not full(q.at..q.at + 1ns)
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
    expect p.out.ipv4.dst == q.out.ipv4.dst and p.out.l4.dport == q.out.l4.dport and p.ports == q.ports
      and (p.out.ethernet.dst == q.out.ethernet.dst or p.in.ethernet.dst != q.in.ethernet.dst);
  }

  /// When servers come and go, only the flows of those that went move. A server that still gets packets has not gone.
  property minimal_disruption {
    for p, q in trace where sticky and p.sent and q.sent and p.in_port == clients and q.in_port == clients
      and p.flow == q.flow and p.in.l4 and q.in.l4 and p.fragment == q.fragment and q.at - p.at < idle
      and q.changes == p.changes + 1
      and not full(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and p.in.ethernet.dst == q.in.ethernet.dst
      and (p.out.ipv4.dst, p.out.ethernet.dst) != (q.out.ipv4.dst, q.out.ethernet.dst)
    expect not (exists r in trace where r.sent and r.in_port == clients and r.in.l4 and r.changes == q.changes
                and r.flow != p.flow and r.ports == p.ports
                and (r.out.ipv4.dst, r.out.ethernet.dst) == (p.out.ipv4.dst, p.out.ethernet.dst));
  }

  /// Who is served once is served always, and so is everybody else: no flow of a service is refused while another is
  /// not. (Only the table may be too full for it. A connection begins with a SYN.)
  property every_flow_sent {
    for p, q in trace where p.sent and p.in_port == clients and q.in_port == clients and p.in.l4 and q.in.l4
      and not p.fragment and not q.fragment and p.in.ipv4 and q.in.ipv4
      and (p.flow.dst, p.flow.dport, p.flow.protocol) == (q.flow.dst, q.flow.dport, q.flow.protocol)
      and p.changes == q.changes and not full(q.at..q.at + 1ns)
      and ordinary(q) and between_hosts(p) and q.in.ethernet.dst == p.in.ethernet.dst
      and (begins(q)
           or p.flow == q.flow and goes_on(q) and goes_on(p) and q.in.tcp.syn == 0 and q.at - p.at < idle
           and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns))
    expect not q.dropped or q.reason == "short frame";
  }

  /// Nothing leaves that is not for the service.
  property only_the_service {
    for p in trace where service != 0.0.0.0 and p.sent and p.in_port == clients
    expect p.in.ipv4.dst == service;
  }

  /// Servers see who asks, and what: of a packet only the destination changes.
  property only_destination_changes {
    for p in trace where p.sent and p.in_port == clients and p.in.ipv4
    expect p.out.flow.src == p.flow.src and p.out.flow.sport == p.flow.sport and p.out.flow.protocol == p.flow.protocol
      and p.out.len == p.in.len and p.out.payload == p.in.payload and p.out.ipv4.dscp == p.in.ipv4.dscp
      and p.out.ipv4.ecn == p.in.ipv4.ecn and p.out.ipv4.ttl <= p.in.ipv4.ttl;
  }

  /// A TCP segment is otherwise what it was.
  property tcp_unchanged {
    for p in trace where p.sent and p.in_port == clients and p.in.tcp
    expect p.out.tcp.sequence == p.in.tcp.sequence and p.out.tcp.acknowledgement == p.in.tcp.acknowledgement
      and p.out.tcp.window == p.in.tcp.window and p.out.tcp.options == p.in.tcp.options
      and p.out.tcp.syn == p.in.tcp.syn and p.out.tcp.ack == p.in.tcp.ack and p.out.tcp.fin == p.in.tcp.fin
      and p.out.tcp.rst == p.in.tcp.rst;
  }
}
