use net.l4;

nf counter {
  port lan, wan;
  state { seen: map<Flow> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet { seen[flow] += 1; send wan; }
}
