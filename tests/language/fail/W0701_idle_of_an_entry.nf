use net.l4;

nf policer {
  port lan, wan;
  relevant flow;
  state { meters: map<Flow, token_bucket(1Mbps, 1MB)> { capacity 64K; idle 5s; when full evict oldest; } }
  on packet {
    require meters[flow].take(len) else drop "too much";
    bounce;
  }
}
