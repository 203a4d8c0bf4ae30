/// A limiter of packets, for each source.
use net.l4;

nf packets_bucket {
  port inside, outside;
  state { buckets: map<ipv6, token_bucket(100pps, 4)> { capacity 4K; idle 30s; when full drop; } }
  use test.packet_limiter { rate: 100pps, burst: 4, per_source: true };

  on packet from inside {
    require l4 and not fragment else send outside;
    require buckets[flow.src].take(1) else drop "too many";
    send outside;
  }
  on packet from outside { send inside; }
}
