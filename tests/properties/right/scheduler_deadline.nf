/// A link that sends what must be there first: voice within a millisecond (EF, RFC 3246), all else within ten.
use net.l4;

nf scheduler_deadline {
  port lan, wan;
  // What comes 9 ms after a packet is behind it; then a full buffer may be before it, and the packet that is being sent.
  use test.scheduler { hold: 22215us };
  schedule {
    class ip and ip.dscp == 46; deadline if ip and ip.dscp == 46 { 1ms } else { 10ms };
    serve 10Mbps; buffer 15KB; when full drop;
  }

  on packet from lan {
    require len <= 1518B else drop "longer than the MTU";
    send wan;
  }
  on packet from wan { drop "one way only"; }
}
