/// A shaper of what each port floods: every copy counts.
use net.ethernet;

parser frame {
  state start { extract ethernet; }
}

nf shaper_hub {
  port p1, p2, p3;
  use test.shaper { rate: 8Mbps, burst: 3028B, hold: 20ms };
  schedule { class in_port; shape 8Mbps, 3028B; classes 3; idle 1s; buffer 20KB; when full drop; }

  on packet { send ports - in_port; }
}
