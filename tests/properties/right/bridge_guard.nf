/// A bridge that keeps what is for bridges only, bars stations, and takes no frame longer than a tag more than 1518.
use net.ethernet;

parser frame {
  state start { extract ethernet; }
}

nf bridge_guard {
  port p1, p2, p3;
  relevant ethernet else drop "runt";
  config barred: set<mac>;
  state { heard: map<mac, port> { capacity 1K; age 1min; when full evict oldest; } }
  use test.bridge { ageing: 1min };

  on packet {
    require not (ethernet.src in barred or ethernet.dst in barred) else drop "barred";
    require ethernet.dst[47:4] != 0x0180c200000 else drop "for bridges";
    require ethernet.src[40:40] == 0 else drop "from a group";
    require len <= 1518B else drop "long";
    require ethernet.ether_type != 0x88cc else drop "LLDP";
    heard[ethernet.src] = in_port;
    require ethernet.dst[40:40] == 0 else send ports - in_port;
    let there = heard[ethernet.dst] else send ports - in_port;
    require there != in_port else drop "already there";
    send there;
  }
}
