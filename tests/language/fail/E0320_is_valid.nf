use net.l4;

nf router {
  port lan, wan;
  on packet {
    require ipv4.isValid() else drop "not IPv4";
    send wan;
  }
}
