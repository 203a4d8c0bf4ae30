use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require ipv4 and ipv4.ttl & 1 == 0 else drop "odd";
    send wan;
  }
}
