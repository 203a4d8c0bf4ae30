use net.l4;

nf wire {
  port lan, wan;
  on packet {
    require ipv4 else drop "not IPv4";
    ipv4.ttl = 300;
    send wan;
  }
}
