use net.l4;

nf firewall {
  port lan, wan;
  fn low(p: u16) -> bool { let limit: u16 = 1024; }
  on packet {
    require low(flow.dport) else drop "high port";
    send wan;
  }
}
