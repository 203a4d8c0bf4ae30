use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require tcp.dport != 25 else drop "no mail";
    send wan;
  }
}
