use net.l4;

nf counter {
  port lan, wan;
  on packet {
    require ipv4 and tcp else drop "not TCP over IPv4";
    require ipv4.total_length + ipv4.ttl < 1500 else drop "long";
    send wan;
  }
}
