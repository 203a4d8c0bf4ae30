/// A bridge that keeps the time at which each station was heard.
use net.ethernet;

struct Station { at: port, heard: time }

parser frame {
  state start { extract ethernet; }
}

nf bridge_times {
  port p1, p2, p3;
  relevant ethernet.{src, dst} else drop "runt";
  state { stations: map<mac, Station> { capacity 1K; age 1h; when full pass; } }
  use test.bridge { ageing: 30s };

  on packet {
    let group = ethernet.src[40:40] == 1;
    if not group { stations[ethernet.src] = Station { at: in_port, heard: now }; }
    let s = stations.peek(ethernet.dst) else send ports - in_port;
    require now - s.heard < 30s else send ports - in_port;
    require s.at != in_port else drop "already there";
    send s.at;
  }
}
