use net.l4;

/// IPv4 one way and IPv6 the other (RFC 7915): the headers change places, so packets go whole.
nf translator {
  port four, six;
  relevant ip.{src, dst}, ipv4.ttl when ipv4, ipv6.hop_limit when ipv6 else drop "not IP";
  on packet from four {
    require ipv4 else drop "not IPv4";
    let left = ipv4.ttl;
    push ipv6 { src: 2001:db8::1, dst: 2001:db8::2, hop_limit: left } before ipv4;
    pop ipv4;
    send six;
  }
  on packet from six {
    require ipv6 else drop "not IPv6";
    let left = ipv6.hop_limit;
    push ipv4 { src: 10.0.0.1, dst: 10.0.0.2, ttl: left } before ipv6;
    pop ipv6;
    send four;
  }
}
