/// A per-flow shaper. Nothing is decided per packet but the class: the schedule is the function.
use net.l4;

nf shaper {
  port lan, wan;
  param rate: bitrate = 10Mbps;  param burst: bytes = 64KB;
  relevant ipv4.{src, dst, protocol}, l4.{sport, dport} else send wan;
  schedule { class flow; shape rate, burst; classes 64K; idle 10s; buffer 16MB; queue 256KB; when full drop; }
  on packet from lan { send wan; }

  /// In no window does a flow get more than the burst and what the rate gives (SCHEDULE.md, P5.6).
  property never_above_the_rate {
    for p, q in trace where p.sent and q.sent and p.flow == q.flow and p.left < q.left
    expect (max(bytes(p.flow, p.left..q.left), burst) - burst) / (q.left - p.left) <= rate;
  }

  /// Packets of a flow leave in the order they came.
  property order {
    for p, q in trace where p.sent and q.sent and p.class == q.class expect p.left <= q.left;
  }

  /// After a silence long enough to fill the bucket, a flow's packet does not wait.
  property silence_fills_the_bucket {
    for p in trace where p.sent and p.len <= burst and packets(p.flow, p.at - 10s..p.at) == 0 expect p.left == p.at;
  }
}
