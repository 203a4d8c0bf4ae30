/// What IPv4 and IPv6 have in common.

/// IANA, "Assigned Internet Protocol Numbers". The IPv6 extension headers `hop_by_hop`, `routing` and
/// `destination_options` are all parsed as `ipv6_ext`.
enum IpProtocol: u8 {
  hop_by_hop = 0,
  icmp = 1,
  igmp = 2,
  ipv4 = 4,
  tcp = 6,
  udp = 17,
  ipv6 = 41,
  routing = 43,
  ipv6_fragment = 44,
  gre = 47,
  esp = 50,
  ah = 51,
  icmpv6 = 58,
  no_next = 59,
  destination_options = 60,
  ospf = 89,
  sctp = 132,
  mpls = 137
}
