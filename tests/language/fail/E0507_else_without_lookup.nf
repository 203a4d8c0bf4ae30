use net.l4;

nf router {
  port lan, wan;
  on packet {
    require ipv4 else drop "not IPv4";
    let ttl = ipv4.ttl else drop "no TTL";
    require ttl > 1 else drop "expired";
    send wan;
  }
}
