/// A bridge that learns where frames go instead of where they come from.
use net.ethernet;

parser frame {
  state start { extract ethernet; }
}

nf forgetful_bridge {
  port p1, p2, p3;
  param ageing: duration = 300s;
  relevant ethernet.{src, dst} else drop "runt";
  state { stations: map<mac, port> { capacity 1K; age ageing; when full evict oldest; } }

  use test.bridge;

  on packet {
    stations[ethernet.dst] = in_port;
    let station = stations[ethernet.src] else send ports - in_port;
    require station != in_port else drop "already there";
    send station;
  }
}
