/// The IP Authentication Header (RFC 4302).
use net.ip;

/// RFC 4302, section 2. What follows is opaque: the check value covers it, so it cannot be edited.
header ah {
  next_header: u8 next IpProtocol;
  /// In 4-byte words, minus 2.
  length: u8 length(header / 4 - 2);
  reserved: u16 = 0;
  spi: u32;
  sequence: u32;
  check_value: rest;

  valid length >= 1;
  size length as u16 * 4 + 8;
}
