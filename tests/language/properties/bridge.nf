/// A learning bridge: the catalogue's properties of forwarding by station.
use net.l4;

nf bridge {
  port p1, p2, p3;

  state {
    stations: map<mac, port> { capacity 4K; idle 300s; when full evict oldest; }
  }

  on packet {
    require ethernet else drop "not Ethernet";
    stations[ethernet.src] = in_port;
    let known = stations[ethernet.dst] else { send ports - in_port; };
    require known != in_port else drop "already there";
    send known;
  }

  property no_loop {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  property unknown_floods {
    for p in trace where p.in.ethernet and not (p.in.ethernet.dst in p.after.stations)
    expect p.ports == ports - p.in_port;
  }

  property known_does_not_flood {
    for p in trace where p.sent and p.in.ethernet.dst in p.after.stations
    expect p.ports.len == 1 and p.out_port == p.after.stations[p.in.ethernet.dst];
  }
}
