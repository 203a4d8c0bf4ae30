use net.l4;

nf counter {
  port lan, wan;
  state { seen: set<Flow> { capacity 1M; idle 30s; when full evict oldest; } }
  on packet {
    if tcp and tcp.fin == 1 { remove flow; }
    send wan;
  }
}
