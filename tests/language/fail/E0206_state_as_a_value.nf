use net.l4;

nf counter {
  port lan, wan;
  state { sizes: map<Flow, array<u64>> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet { sizes[flow][0] += 1; send wan; }
}
