/// The Internet Control Message Protocol for IPv6 (RFC 4443) and the names of neighbour discovery (RFC 4861, section 4).

enum Icmpv6Type: u8 {
  unreachable = 1,
  packet_too_big = 2,
  time_exceeded = 3,
  parameter_problem = 4,
  echo_request = 128,
  echo_reply = 129,
  router_solicitation = 133,
  router_advertisement = 134,
  neighbor_solicitation = 135,
  neighbor_advertisement = 136,
  redirect = 137
}

/// Codes of `unreachable` (RFC 4443, section 3.1).
enum Icmpv6Unreachable: u8 { no_route = 0, prohibited = 1, beyond_scope = 2, address = 3, port = 4 }

/// RFC 4443, section 2.1. The second four bytes depend on the type: `identifier` and `sequence` of an echo; of
/// `packet_too_big` the MTU is `identifier ++ sequence` (RFC 4443, section 3.2).
header icmpv6 {
  type: u8;
  code: u8 = 0;
  checksum: u16 checksum(pseudo, header, rest);
  identifier: u16 = 0;
  sequence: u16 = 0;
}

/// What stands for both ports in a Flow: the identifier of an echo, else 0.
fn icmpv6_port(type: u8, identifier: u16) -> u16 {
  if type == Icmpv6Type.echo_request or type == Icmpv6Type.echo_reply { identifier } else { 0 }
}
