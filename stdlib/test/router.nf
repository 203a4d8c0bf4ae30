/// A router for IPv4 (RFC 1812), IPv6 (RFC 8200), or both.
///
/// It cannot know the routes: that lookups find the longest prefix is a built-in property of `lpm` tables; nor what is
/// told to whom about packets that are not forwarded.
use net.flow;
use test.ordinary;
use test.sums;
use test.tags;

block router {
  /// The time to live falls by one, so that no packet goes round forever; one whose time is up is not forwarded.
  property ttl_falls {
    for p in trace where p.sent and p.in.ipv4
    expect p.in.ipv4.ttl > 1 and p.out.ipv4.ttl == p.in.ipv4.ttl - 1;
  }

  /// The same of the hop limit.
  property hop_limit_falls {
    for p in trace where p.sent and p.in.ipv6
    expect p.in.ipv6.hop_limit > 1 and p.out.ipv6.hop_limit == p.in.ipv6.hop_limit - 1;
  }

  /// As long as a packet has hops left, it is forwarded as another one of its flow is, which need not be shorter. (Said
  /// of packets without a VLAN tag: which VLANs a router is in, nobody knows.)
  property hops_left_suffice {
    for p, q in trace where p.sent and q.dropped and p.flow == q.flow and p.fragment == q.fragment
      and p.in_port == q.in_port and p.changes == q.changes and q.len <= p.len
      and (p.in.ipv4 and q.in.ipv4 and q.in.ipv4.ttl > 1 and q.in.ipv4.ihl == p.in.ipv4.ihl
           or p.in.ipv6 and q.in.ipv6 and q.in.ipv6.hop_limit > 1)
      and p.in.l4 and q.in.l4 and p.in.ethernet.dst == q.in.ethernet.dst and p.in.ethernet.src == q.in.ethernet.src
      and same_flags(p, q)
      and untagged(p.in.ethernet.ether_type) and untagged(q.in.ethernet.ether_type)
    expect q.reason == "short frame";
  }

  /// Who a packet is from and for is none of the router's business, nor how long it is, but for VLAN tags.
  property addresses_stay {
    for p in trace where p.sent and p.in.ip
    expect (p.out.len == p.in.len or not untagged(p.in.ethernet.ether_type) or not untagged(p.out.ethernet.ether_type))
      and p.out.flow.src == p.flow.src and p.out.flow.dst == p.flow.dst;
  }

  /// Nor what it says. (A parser may look less far into a packet whose time to live is low.)
  property payload_stays {
    for p in trace where p.sent and p.in.l4 and p.out.l4
    expect p.out.flow == p.flow and p.out.payload == p.in.payload;
  }

  /// A packet that comes with right checksums leaves with right ones.
  property checksums_follow {
    for p in trace where p.sent expect checksums_valid(p);
    for p in trace where p.sent and p.in.ipv4 and checksums_valid(p.in)
    expect ip_sum(p.out.ipv4.src, p.out.ipv4.dst, p.out.ipv4.ttl, p.out.ipv4.checksum)
           == ip_sum(p.in.ipv4.src, p.in.ipv4.dst, p.in.ipv4.ttl, p.in.ipv4.checksum);
  }

  /// While no route changes, packets of a flow take one way: the same port, to the same neighbour. (Said of packets
  /// without a VLAN tag: each VLAN may be somebody else's.)
  property one_way_per_flow {
    for p, q in trace where p.sent and q.sent and p.in.ip and q.in.ip and p.flow == q.flow and p.fragment == q.fragment
      and p.in_port == q.in_port and p.changes == q.changes and p.in.ip.dscp == q.in.ip.dscp
      and untagged(p.in.ethernet.ether_type) and untagged(q.in.ethernet.ether_type)
    expect p.ports == q.ports and p.out.ethernet.dst == q.out.ethernet.dst;
  }
}
