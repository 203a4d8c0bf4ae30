/// A limiter by the generic cell rate algorithm: of each flow, when it may send next at the earliest.
use net.l4;

nf limiter_gcra {
  port inside, outside;
  state { next: map<Flow, time> { capacity 4K; idle 10s; when full pass; } }
  use test.limiter { rate: 8Mbps, burst: 3000B };

  on packet from inside {
    require l4 and not fragment else send outside;
    let due = next.peek(flow) else now;
    let begin = if due > now { due } else { now };
    let after = begin + (len as u64) * 1us;  // a byte per microsecond
    require after - now <= 3ms else drop "too fast";
    next[flow] = after;
    send outside;
  }
  on packet from outside { send inside; }
}
