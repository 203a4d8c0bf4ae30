/// Generic Network Virtualization Encapsulation (RFC 8926).
use net.ethernet;

/// Destination port of the outer UDP header (RFC 8926, section 3.3).
const GENEVE_PORT: u16 = 6081;

/// RFC 8926, section 3.4.
header geneve {
  version: bit<2> = 0;
  /// In 4-byte words.
  options_length: bit<6> length((header - 8) / 4);
  control: bit<1> = 0;
  critical: bit<1> = 0;
  reserved: bit<6> = 0;
  protocol: u16 next EtherType;
  vni: bit<24>;
  reserved_byte: u8 = 0;
  options: rest;

  valid version == 0;
  size options_length as u16 * 4 + 8;
}
