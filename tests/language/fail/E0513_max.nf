use net.l4;

nf counter {
  port lan, wan;
  state { seen: map<Flow, u64> { capacity 1M max 2M; idle 30s, 1h; when full evict oldest; } }
  on packet { seen[flow] += 1; send wan; }
}
