/// For every NF that rewrites IPv4 addresses, ports or the time to live, and nothing else of these headers.
///
/// It cannot know of other headers' checksums; that all that a parser finds stay valid is a built-in property.
use test.sums;

block checksums {
  /// A packet that comes with right checksums leaves with right ones: a receiver drops what has a wrong one.
  property valid {
    for p in trace where p.sent expect checksums_valid(p);
  }

  /// The checksum of the IPv4 header follows its addresses and its time to live.
  property of_ipv4 {
    for p in trace where p.sent and p.in.ipv4 and p.out.ipv4 and checksums_valid(p.in)
    expect ip_sum(p.out.ipv4.src, p.out.ipv4.dst, p.out.ipv4.ttl, p.out.ipv4.checksum)
           == ip_sum(p.in.ipv4.src, p.in.ipv4.dst, p.in.ipv4.ttl, p.in.ipv4.checksum);
  }

  /// The checksum of TCP or UDP follows the addresses and ports. A UDP checksum of zero is none.
  property of_l4 {
    for p in trace where p.sent and p.in.ipv4 and p.out.ipv4 and p.in.l4 and p.out.l4 and checksums_valid(p.in)
      and p.in.l4.checksum != 0
    expect l4_sum(p.out.ipv4.src, p.out.ipv4.dst, p.out.l4.sport, p.out.l4.dport, p.out.l4.checksum)
           == l4_sum(p.in.ipv4.src, p.in.ipv4.dst, p.in.l4.sport, p.in.l4.dport, p.in.l4.checksum);
  }

  /// A UDP datagram without checksum (zero, RFC 768) stays without, and no other becomes one.
  property udp_zero_stays_zero {
    for p in trace where p.sent and p.in.udp and p.out.udp
    expect (p.in.udp.checksum == 0) == (p.out.udp.checksum == 0);
  }
}
