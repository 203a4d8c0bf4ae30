use net.l4;

nf counter {
  port lan, wan;
  state { seen: map<prefix, u64> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet { seen[flow.src] += 1; send wan; }
}
