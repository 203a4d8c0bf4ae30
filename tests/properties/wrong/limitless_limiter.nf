/// A limiter that looks whether there are tokens, and never takes any.
use net.l4;

nf limitless_limiter {
  port inside, outside;
  param rate:  bitrate = 8Mbps;
  param burst: bytes = 4KB;

  state { meters: map<Flow, token_bucket(rate, burst)> { capacity 64K; idle 60s; when full drop; } }

  use test.limiter;

  on packet from inside {
    require l4 else drop "not TCP or UDP";
    require meters[flow].has(len) else drop "over the rate";
    send outside;
  }
}
