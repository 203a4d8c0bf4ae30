/// A bridge without VLANs.
use net.ethernet;

parser frame {
  state start { extract ethernet; }
}

nf bridge_plain {
  port p1, p2, p3;
  relevant ethernet.{src, dst} else drop "runt";
  state { heard: map<mac, port> { capacity 1K; age 20s; when full evict oldest; } }
  use test.bridge { ageing: 20s };

  fn is_group(a: mac) -> bool { a[40:40] == 1 }

  on packet {
    if not is_group(ethernet.src) { heard[ethernet.src] = in_port; }
    require not is_group(ethernet.dst) else send ports - in_port;
    let there = heard[ethernet.dst] else send ports - in_port;
    require there != in_port else drop "already there";
    send there;
  }
}
