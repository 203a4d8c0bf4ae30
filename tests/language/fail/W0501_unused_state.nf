use net.l4;

nf wire {
  port a, b;
  state { seen: set<Flow> { capacity 1K; idle 30s; when full drop; } }
  on packet from a { send b; }
  on packet from b { send a; }
}
