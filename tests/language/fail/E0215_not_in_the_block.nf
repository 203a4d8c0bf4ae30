use net.l4;

nf firewall {
  port lan, wan;
  use nf.conntrack as ct;
  on packet {
    require ct.conections.len < 1000 else drop "too many";
    ct.open();
    send wan;
  }
}
