use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    fn low(p: u16) -> bool { p < 1024 }
    require not low(flow.dport) else drop "low port";
    send wan;
  }
}
