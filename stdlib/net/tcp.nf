/// The Transmission Control Protocol (RFC 9293).

/// RFC 9293, section 3.1. The flags are single bits: `tcp.syn == 1`.
header tcp {
  sport: u16;
  dport: u16;
  sequence: u32;
  acknowledgement: u32 = 0;
  /// Header length in 4-byte words.
  data_offset: bit<4> length(header / 4);
  reserved: bit<4> = 0;
  cwr: bit<1> = 0;
  ece: bit<1> = 0;
  urg: bit<1> = 0;
  ack: bit<1> = 0;
  psh: bit<1> = 0;
  rst: bit<1> = 0;
  syn: bit<1> = 0;
  fin: bit<1> = 0;
  window: u16;
  checksum: u16 checksum(pseudo, header, rest);
  urgent: u16 = 0;
  options: rest;

  valid data_offset >= 5;
  size data_offset as u16 * 4;
}
