use net.l4;

nf counter {
  port lan, wan;
  state { seen: map<Flow, u64> { capacity 1M; idle 30s; when full evict oldest; } }
  on packet {
    if seen.contains(flow) { seen.delete(flow); }
    send wan;
  }
}
