/// A packet filter without memory, that goes by the port a packet comes from, its MAC addresses, its `flow`, and what a
/// header says beside: DSCP, TCP flags, ICMP type and code, whether it is a fragment, how long what is not TCP is.
///
/// It cannot know the rules: that the right packets pass is for the spec's own properties. Whether they go by something
/// else too, such as options or hops, does not show in `ordinary` packets; of others only equal ones are compared.
use net.flow;
use test.ordinary;

block acl {
  /// Packets with the same header have the same verdict, whatever was before: while the rules are the same.
  property same_header_same_verdict {
    for p, q in trace where p.in_port == q.in_port and p.flow == q.flow and p.changes == q.changes and p.in.ip
      and q.in.ip
      and p.in.ip.dscp == q.in.ip.dscp and p.in.ip.ecn == q.in.ip.ecn and p.fragment == q.fragment
      and p.in.l4 == q.in.l4 and p.in.icmp == q.in.icmp and p.in.icmpv6 == q.in.icmpv6
      and same_flags(p, q)
      and (not p.in.icmp or p.in.icmp.type == q.in.icmp.type and p.in.icmp.code == q.in.icmp.code)
      and (not p.in.icmpv6 or p.in.icmpv6.type == q.in.icmpv6.type and p.in.icmpv6.code == q.in.icmpv6.code)
      and p.quoted_flow == q.quoted_flow and p.in.ethernet.src == q.in.ethernet.src
      and p.in.ethernet.dst == q.in.ethernet.dst and (ordinary(p) and ordinary(q) or p.in == q.in)
      and (p.in.tcp or p.len == q.len)
      and not (p.reason == "short frame") and not (q.reason == "short frame")
    expect p.sent == q.sent and (not p.sent or p.ports == q.ports);
  }

  /// No packet leaves by the port it came in.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// What passes, passes as it is.
  property nothing_changes {
    for p in trace where p.sent and p.in.ip
    expect p.out.flow == p.flow and p.out.len == p.in.len and p.out.payload == p.in.payload and checksums_valid(p);
  }
}
