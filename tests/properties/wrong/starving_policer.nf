/// A policer as one writes it first: tokens come by the millisecond, and the time is noted with every packet. Fractions
/// of a millisecond are lost each time, so whoever sends faster than that gets nothing at all once the burst is gone.
use net.l4;

struct Meter { tokens: u64, last: time }

nf starving_policer {
  port inside, outside;
  param rate:  bitrate = 80Mbps;
  param burst: bytes = 20KB;

  state { meters: map<Flow, Meter> { capacity 64K; idle 60s; when full drop; } }

  use test.policer { per_source: false, layer3: false };

  on packet from inside {
    require l4 else drop "not TCP or UDP";
    let meter = meters[flow] else Meter { tokens: 20000, last: now };
    let tokens = min(20000, meter.tokens + (now - meter.last) / 1ms * 10000);
    let enough = tokens >= len as u64;
    meters[flow] = Meter { tokens: if enough { tokens - (len as u64) } else { tokens }, last: now };
    require enough else drop "over the rate";
    send outside;
  }
}
