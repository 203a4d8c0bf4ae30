/// A shaper of what each port sends, for links that take 1514 bytes; longer packets are dropped before they wait.
use net.ethernet;

parser frame {
  state start { extract ethernet; }
}

nf shaper_mtu {
  port lan, wan;
  use test.shaper { rate: 8Mbps, burst: 3028B, hold: 20ms };
  schedule { class in_port; shape 8Mbps, 3028B; classes 2; idle 1s; buffer 20KB; when full drop; }

  on packet {
    require len <= 1514B else drop "too long";
    send ports - in_port;
  }
}
