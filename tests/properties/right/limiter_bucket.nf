/// A limiter of every flow, with the buckets of the language.
use net.l4;

nf limiter_bucket {
  port inside, outside;
  state { buckets: map<Flow, token_bucket(8Mbps, 3000B)> { capacity 4K; idle 30s; when full pass; } }
  use test.limiter { rate: 8Mbps, burst: 3000B };

  on packet from inside {
    require l4 and not fragment else send outside;
    require buckets[flow].take(len) else drop "too fast";
    send outside;
  }
  on packet from outside { send inside; }
}
