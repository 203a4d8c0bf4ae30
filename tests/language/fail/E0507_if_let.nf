use net.l4;

nf router {
  port lan, wan;
  on packet {
    require ipv4 else drop "not IPv4";
    if let ttl = ipv4.ttl { ipv4.ttl = ttl - 1; }
    send wan;
  }
}
