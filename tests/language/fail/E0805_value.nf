use net.l4;

nf firewall {
  port lan, wan;
  relevant ipv4.src else drop "not IPv4";
  on packet {
    require ipv4.src in 10.0.0.0/8 and flow.dport != 25 else drop "no mail";
    send wan;
  }
}
