use net.l4;

nf firewall {
  port lan, wan;
  on packet {
    require hash(flow, (flow.src, flow.dst) != 0 else drop "zero";
    send wan;
  }
}
