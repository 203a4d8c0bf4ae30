/// A limiter of sources, which also refuses telnet and what is longer than an Ethernet link takes.
use net.l4;

nf limiter_sources {
  port inside, outside;
  state { buckets: map<ipv6, token_bucket(8Mbps, 3000B)> { capacity 4K; idle 30s; when full pass; } }
  use test.limiter { rate: 8Mbps, burst: 3000B, per_source: true };

  on packet from inside {
    require l4 and not fragment else send outside;
    require not (tcp and flow.dport == 23) else drop "telnet";
    require len <= 1514B else drop "too long";
    require buckets[flow.src].take(len) else drop "too fast";
    send outside;
  }
  on packet from outside { send inside; }
}
