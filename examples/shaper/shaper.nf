/// A per-flow shaper. Nothing is decided per packet but the class: the schedule is the function.
use net.l4;

nf shaper {
  port lan, wan;
  param rate: bitrate = 10Mbps;  param burst: bytes = 64KB;
  use test.shaper { hold: 205ms };
  relevant ipv4.{src, dst, protocol}, l4.{sport, dport} else send wan;
  schedule { class flow; shape rate, burst; classes 64K; idle 10s; buffer 16MB; queue 256KB; when full drop; }
  on packet from lan { send wan; }

  /// All goes to the other side, as it came.
  property crosses {
    for p in trace where p.sent expect p.ports == {wan} and p.out == p.in;
    for p in trace where p.in_port == lan
    expect p.sent or p.held
      or p.reason in {"short frame", "queue full", "buffer full", "no free class", "longer than burst"};
  }
}
