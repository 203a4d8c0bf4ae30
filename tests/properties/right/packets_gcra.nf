/// Two packets a second from each flow, five at once, by the time at which the next is due.
use net.l4;

nf packets_gcra {
  port inside, outside;
  state { due: map<Flow, time> { capacity 4K; idle 1min; when full drop; } }
  use test.packet_limiter { rate: 2pps, burst: 5 };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    let d = due.peek(flow) else now;
    let begin = max(d, now);
    require begin - now <= 2s else drop "too fast";
    due[flow] = begin + 500ms;
    send outside;
  }
  on packet from outside { send inside; }
}
