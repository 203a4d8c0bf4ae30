/// A shaper that gives each flow double its rate.
use net.l4;

nf hasty_shaper {
  port lan, wan;
  param rate: bitrate = 8Mbps;
  param burst: bytes = 4KB;
  relevant flow;
  schedule { class flow; shape rate * 2, burst; classes 64; idle 10s; buffer 1MB; queue 64KB; when full drop; }

  use test.shaper { hold: 1s };

  on packet from lan { send wan; }
}
