use net.l4;

nf counter {
  port lan, wan;
  state { seen: map<Flow, u64> { capacity 1M; when full evict oldest; } }
  on packet { seen[flow] += 1; send wan; }
}
