/// A shaper of a whole line: one bucket for each direction, and little room to wait.
use net.l4;

nf shaper_line {
  port lan, wan;
  use test.shaper { rate: 8Mbps, burst: 1514B, hold: 20ms };
  schedule { class in_port; shape 8Mbps, 1514B; classes 2; idle 1min; buffer 20KB; when full drop; }

  on packet from lan { send wan; }
  on packet from wan { send lan; }
}
