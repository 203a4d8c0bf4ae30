/// A shaper for subscribers: IPv4 hosts on the LAN, each by its address, whatever it talks about.
use net.l4;

nf shaper_subscribers {
  port lan, wan;
  use test.shaper { rate: 2Mbps, burst: 3000B, hold: 256ms };
  relevant ipv4.src else drop "not IPv4";
  schedule { class ipv4.src; shape 2Mbps, 3000B; classes 1K; idle 1s; buffer 1MB; queue 64KB; when full drop; }

  on packet from lan { send wan; }
}
