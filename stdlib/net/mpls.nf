/// Multiprotocol Label Switching (RFC 3032).

/// RFC 3032, section 2.1: one label stack entry. What follows the last is not said: the first 4 bits tell IPv4 from IPv6.
header mpls {
  label: bit<20>;
  /// Traffic class (RFC 5462).
  tc: bit<3> = 0;
  /// Bottom of stack.
  s: bit<1>;
  ttl: u8 = 64;
}
