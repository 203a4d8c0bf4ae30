/// The Internet Protocol, version 6 (RFC 8200), and its extension headers.
use net.ip;

/// RFC 8200, section 3. A jumbogram (RFC 2675: payload length 0 and a hop-by-hop header) is not valid: its length
/// is in an option, so it goes through as it is.
header ipv6 {
  version: bit<4> = 6;
  dscp: bit<6> = 0;
  ecn: bit<2> = 0;
  flow_label: bit<20> = 0;
  /// Everything after this header, extension headers too.
  payload_length: u16 length(rest);
  next_header: u8 next IpProtocol;
  hop_limit: u8 = 64;
  src: ipv6;
  dst: ipv6;

  valid version == 6 and not (payload_length == 0 and next_header == IpProtocol.hop_by_hop);
  end payload_length as u32 + 40;
  pseudo src, dst;
}

/// RFC 8200, sections 4.3 (hop-by-hop options), 4.4 (routing), 4.6 (destination options): one layout for all three.
header ipv6_ext {
  next_header: u8 next IpProtocol;
  /// In 8-byte units, without the first 8 bytes.
  length: u8 length(header / 8 - 1);
  content: rest;

  size length as u16 * 8 + 8;
}

/// RFC 8200, section 4.5.
header ipv6_fragment {
  next_header: u8 next IpProtocol;
  reserved: u8 = 0;
  /// In 8-byte units. Only a packet with offset 0 has a layer-4 header.
  fragment_offset: bit<13>;
  reserved_bits: bit<2> = 0;
  more_fragments: bit<1>;
  identification: u32;
}
