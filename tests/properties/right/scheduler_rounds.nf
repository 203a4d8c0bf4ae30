/// A slow line that its users share fairly: deficit round robin by source, with a queue for each.
use net.l4;

nf scheduler_rounds {
  port users, uplink;
  use test.scheduler { hold: 38759us };                     // three turns, all seven others before each (P10.7)
  schedule { class flow.src; drr 1; serve 10Mbps; buffer 1MB; queue 4542B; classes 8; when full drop; }

  on packet {
    require len <= 1514B else drop "longer than the MTU";
    send ports - in_port;
  }
}
