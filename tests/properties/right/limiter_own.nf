/// A limiter of every source that counts by itself, in bit times: when all that was let through will have been sent.
use net.l4;

nf limiter_own {
  port inside, outside;
  param byte_time: duration = 1us;                          // 8 Mbit/s
  param burst:     u64 = 2000;
  state { until: map<ipv6, time> { capacity 4K; idle 1min; when full drop; } }
  use test.limiter { rate: 8Mbps, burst: 2000B, per_source: true };

  on packet from inside {
    require l4 and not fragment else send outside;
    let said = until.peek(flow.src) else now;
    let start = max(said, now);
    let end = start + byte_time * (len / 1B);
    require end - now <= byte_time * burst else drop "too fast";
    until[flow.src] = end;
    send outside;
  }
  on packet from outside { send inside; }
}
