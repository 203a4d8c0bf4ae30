/// A bridge with storm control: of what goes everywhere each port may send so much.
use net.ethernet;

parser frame {
  state start { extract ethernet; }
}

nf bridge_storm {
  port p1, p2, p3;
  relevant ethernet else drop "runt";
  state {
    heard: map<mac, port> { capacity 1K; age 5min; when full pass; }
    storm: map<port, token_bucket(1Mbps, 4000B)> { capacity 4; idle 1min; when full pass; }
  }
  use test.bridge { ageing: 5min };

  on packet {
    if ethernet.src[40:40] == 0 { heard[ethernet.src] = in_port; }
    if ethernet.dst[40:40] == 0 {
      if let there = heard[ethernet.dst] {
        require there != in_port else drop "already there";
        send there;
      }
    }
    require storm[in_port].take(len) else drop "storm";
    send ports - in_port;
  }
}
