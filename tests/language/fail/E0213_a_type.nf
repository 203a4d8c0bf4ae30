use net.l4;

nf wire {
  port lan, wan;
  on packet {
    require ipv4 and ipv4.protocol == IpProtocol else drop "not IP";
    send wan;
  }
}
