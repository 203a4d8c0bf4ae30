use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require flow.dport] != 0 else drop "zero";
    send wan;
  }
}
