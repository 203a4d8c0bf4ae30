/// The Internet Protocol, version 4 (RFC 791).
use net.ip;

/// RFC 791, section 3.1; the second byte as in RFC 2474, section 3, and RFC 3168, section 5.
/// A packet with total length 0 (seen before segmentation offload) is not valid: it goes through as it is.
header ipv4 {
  version: bit<4> = 4;
  /// Header length in 4-byte words.
  ihl: bit<4> length(header / 4);
  dscp: bit<6> = 0;
  ecn: bit<2> = 0;
  total_length: u16 length(header + rest);
  identification: u16 = 0;
  reserved: bit<1> = 0;
  dont_fragment: bit<1> = 0;
  more_fragments: bit<1> = 0;
  /// In 8-byte units. Only a packet with offset 0 has a layer-4 header.
  fragment_offset: bit<13> = 0;
  ttl: u8 = 64;
  protocol: u8 next IpProtocol;
  checksum: u16 checksum(header);
  src: ipv4;
  dst: ipv4;
  options: rest;

  valid version == 4 and ihl >= 5 and total_length >= ihl as u16 * 4;
  size ihl as u16 * 4;
  end total_length;
  pseudo src, dst;
}
