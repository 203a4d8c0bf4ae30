use net.l4;

nf counter {
  port lan, wan;
  state {
    seen: map<Flow, u64> { capacity 1M; idle 30s; when full evict oldest; }
    ended: u64;
  }
  on packet { seen[flow] += 1; send wan; }
  on end sean(f, n, why) { ended += n; }
}
