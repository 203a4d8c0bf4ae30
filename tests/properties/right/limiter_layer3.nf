/// A policer of subscribers by what they send as IP packets.
use net.l4;

nf limiter_layer3 {
  port inside, outside;
  state { buckets: map<ipv4, token_bucket(1Mbps, 1500B)> { capacity 4K; idle 30s; when full pass; } }
  use test.policer { rate: 1Mbps, burst: 1500B };

  on packet from inside {
    require ipv4 else send outside;
    require buckets[ipv4.src].take(ipv4.total_length as bytes) else drop "too fast";
    send outside;
  }
  on packet from outside { send inside; }
}
