use net.l4;

nf wire {
  port lan, wan;
  state { seen: map<Flow, time> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet { seen[canonical] = now; send wan; }
}
