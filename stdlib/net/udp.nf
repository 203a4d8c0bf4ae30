/// The User Datagram Protocol (RFC 768).

/// RFC 768, "Fields"; checksum 0 is none (over IPv6 too: RFC 6935). A length below 8 is not valid, 0 (RFC 2675) included.
header udp {
  sport: u16;
  dport: u16;
  length: u16 length(header + rest);
  checksum: u16 checksum(pseudo, header, rest) zero is none;

  valid length >= 8;
  end length;
}
