use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require flow.dport != 25 else 0;
    send wan;
  }
}
