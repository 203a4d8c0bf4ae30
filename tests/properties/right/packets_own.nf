/// A limiter of packets of a flow, by the time at which the next one is on time (GCRA: ITU-T I.371).
use net.l4;

nf packets_own {
  port inside, outside;
  param gap:   duration = 10ms;
  param ahead: duration = 30ms;
  state { next: map<Flow, time> { capacity 4K; idle 1min; when full drop; } }
  use test.packet_limiter { rate: 100pps, burst: 4 };

  on packet from inside {
    require l4 and not fragment else send outside;
    let said = next.peek(flow) else now;
    let due = max(said, now);
    require due - now <= ahead else drop "too many";
    next[flow] = due + gap;
    send outside;
  }
  on packet from outside { send inside; }
}
