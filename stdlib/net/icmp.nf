/// The Internet Control Message Protocol (RFC 792).

enum IcmpType: u8 {
  echo_reply = 0,
  unreachable = 3,
  source_quench = 4,
  redirect = 5,
  echo_request = 8,
  time_exceeded = 11,
  parameter_problem = 12,
  timestamp_request = 13,
  timestamp_reply = 14
}

/// Codes of `unreachable` (RFC 792; RFC 1812, section 5.2.7.1).
enum IcmpUnreachable: u8 {
  network = 0,
  host = 1,
  protocol = 2,
  port = 3,
  fragmentation_needed = 4,
  source_route_failed = 5,
  network_prohibited = 9,
  host_prohibited = 10,
  prohibited = 13
}

/// Codes of `time_exceeded` (RFC 792).
enum IcmpTimeExceeded: u8 { in_transit = 0, in_reassembly = 1 }

/// RFC 792. The second four bytes depend on the type: `identifier` and `sequence` of an echo; of `fragmentation_needed`
/// the MTU is in `sequence` (RFC 1191, section 4); the gateway of a redirect is `identifier ++ sequence`.
header icmp {
  type: u8;
  code: u8 = 0;
  checksum: u16 checksum(header, rest);
  identifier: u16 = 0;
  sequence: u16 = 0;
}

/// What stands for both ports in a Flow: the identifier of an echo, else 0.
fn icmp_port(type: u8, identifier: u16) -> u16 {
  if type == IcmpType.echo_request or type == IcmpType.echo_reply { identifier } else { 0 }
}
