use net.l4;

nf firewall {
  port lan, wan;
  # only web
  on packet {
    require flow.dport == 80 else drop "kein Web – schade";
    send wan;
  }
}
