/// Generic Routing Encapsulation (RFC 2784, RFC 2890).
use net.ethernet;

/// RFC 2784, section 2; RFC 2890, section 2. Source routes (RFC 1701) and version 1 (PPTP, RFC 2637) are not valid.
header gre {
  checksum_present: bit<1> = 0;
  routing_present: bit<1> = 0;
  key_present: bit<1> = 0;
  sequence_present: bit<1> = 0;
  reserved: bit<9> = 0;
  version: bit<3> = 0;
  protocol: u16 next EtherType;
  /// Four bytes each, as far as present: checksum and reserved, key, sequence number. Without a checksum
  /// the key is `optional[0..4]`.
  optional: rest;

  valid routing_present == 0 and version == 0;
  size (checksum_present as u16 + key_present as u16 + sequence_present as u16) * 4 + 4;
}
