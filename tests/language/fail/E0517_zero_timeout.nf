use net.l4;

nf counter {
  port lan, wan;
  param timeout: duration = 0s;
  state { seen: map<Flow, u64> { capacity 1M; idle timeout; when full evict oldest; } }
  on packet { seen[flow] += 1; send wan; }
}
