use net.l4;

nf firewall {
  port lan, wan;
  relevant tcp.dport, tcp.window else drop "not TCP";
  on packet {
    require tcp.dport != 25 else drop "no mail";
    send wan;
  }
}
