use net.l4;

nf firewall {
  port lan, wan;
  config friends: list<ipv6>;
  on packet {
    require exists f in friends where f == flow.src else drop "no friend";
    send wan;
  }
}
