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

  /// A flow has its queue for 10 s after its last packet has left, and then makes room for another: who finds none sees
  /// as many flows in that time as anybody else found room beside. (Fragments have the queue of their addresses.)
  property room_for_flows {
    for q in trace where q.reason == "no free class" and not (exists r in trace where r.fragment)
    let there = distinct(r in trace where r.number < q.number and q.at - r.at < 10205ms: r.flow);
    expect not (exists p in trace where p.sent
                and distinct(r in trace where r.number <= p.number and r.sent and p.at - r.at < 10s: r.flow)
                > there);
  }
}
