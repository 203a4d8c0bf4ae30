/// A limiter of flows that also refuses IPv4 options and TCP flags that make no sense.
use net.l4;

nf limiter_options {
  port inside, outside;
  state { buckets: map<Flow, token_bucket(8Mbps, 3000B)> { capacity 4K; idle 30s; when full pass; } }
  use test.limiter { rate: 8Mbps, burst: 3000B };

  on packet from inside {
    require l4 and not fragment else send outside;
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    require not (tcp and tcp.syn == 1 and tcp.fin == 1) else drop "flags";
    require not vlan[0] else drop "tagged";
    require buckets[flow].take(len) else drop "too fast";
    send outside;
  }
  on packet from outside { send inside; }
}
