use net.l4;

nf firewall {
  port lan, wan;
  state { open: map<Flow, time> { capacity 1M; idle 30s; when full drop; } }
  on packet {
    require open[flow] else drop "unsolicited";
    send wan;
  }
}
