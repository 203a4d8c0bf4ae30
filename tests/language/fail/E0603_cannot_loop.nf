use net.l4;

nf counter {
  port lan, wan;
  state {
    seen: map<Flow, u64> { capacity 1K; idle 30s; when full evict oldest; }
    total: u64;
  }
  on packet { seen[flow] += 1; send wan; }
  every 1s { for n in seen { total += n; } }
}
