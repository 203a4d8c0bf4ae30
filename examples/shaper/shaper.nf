/// A per-flow shaper. Nothing is decided per packet but the class: the schedule is the function.
use net.l4;

nf shaper {
  port lan, wan;
  param rate: bitrate = 10Mbps;  param burst: bytes = 64KB;
  use test.shaper { hold: 205ms };
  relevant ipv4.{src, dst, protocol}, l4.{sport, dport} else send wan;
  schedule { class flow; shape rate, burst; classes 64K; idle 10s; buffer 16MB; queue 256KB; when full drop; }
  on packet from lan { send wan; }
}
