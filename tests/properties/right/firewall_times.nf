/// A firewall that keeps the time of each conversation's last packet, of either side, and compares it itself.
use net.l4;

nf firewall_times {
  port inside, outside;
  param quiet: duration = 10s;
  state { last: map<Flow, time> { capacity 64K; age 1h; when full drop; } }
  use test.firewall { idle: 10s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    last[flow] = now;
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else drop "not TCP or UDP";
    let heard = last.peek(flow.reversed) else drop "unsolicited";
    require now - heard < quiet else drop "too late";
    last[flow.reversed] = now;
    send inside;
  }
}
