use net.l4;

nf router {
  port lan, wan;
  on packet {
    require ipv4 else drop "not IPv4";
    ipv4.ttl--;
    send wan;
  }
}
