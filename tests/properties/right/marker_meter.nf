/// A meter by RFC 2697's idea: what is within the rate is marked as assured, what is above as best effort.
use net.l4;

nf marker_meter {
  port inside, outside;
  state { meters: map<ipv4, token_bucket(2Mbps, 6000B)> { capacity 4K; idle 1min; when full pass; } }
  use test.marker;

  on packet from inside {
    require ipv4 and not fragment else send outside;
    require not (tcp and tcp.syn == 1 and tcp.fin == 1) else drop "flags";
    if meters[ipv4.src].take(len) { ipv4.dscp = 10; } else { ipv4.dscp = 0; }
    send outside;
  }
  on packet from outside { send inside; }
}
