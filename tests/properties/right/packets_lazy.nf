/// A limiter of packets with a record for every source, refilled when it is looked at, in nanoseconds of credit.
use net.l4;

struct Credit { left: u64, at: time }

nf packets_lazy {
  port inside, outside;
  param cost: u64 = 20000000;                               // nanoseconds that a packet costs, at 50 packets/s
  param most: u64 = 80000000;                               // four packets at once
  state { credits: map<ipv6, Credit> { capacity 4K; age 1min; when full drop; } }
  use test.packet_limiter { rate: 50pps, burst: 4, per_source: true };

  on packet from inside {
    require l4 and not fragment else send outside;
    let c = credits.peek(flow.src) else Credit { left: most, at: now };
    let filled = min(c.left + (now - c.at) as u64, most);
    require filled >= cost else drop "too many";
    credits[flow.src] = Credit { left: filled - cost, at: now };
    send outside;
  }
  on packet from outside { send inside; }
}
