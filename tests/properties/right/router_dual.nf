/// A router for IPv4 and IPv6, which looks its neighbours up by number, and has a default route.
use net.l4;

struct Neighbour { via: port, mac: mac }

nf router_dual {
  port west, east, north;
  config routes4:    lpm<ipv4, u16>;
  config routes6:    lpm<ipv6, u16>;
  config neighbours: map<u16, Neighbour>;
  config addresses:  map<port, mac>;
  use test.router;

  action forward(number: u16) {
    let to = neighbours[number] else drop "no neighbour";
    ethernet.src = addresses[to.via] else drop "no address";
    ethernet.dst = to.mac;
    send to.via;
  }

  on packet {
    if ipv4 {
      require ipv4.ttl > 1 else drop "time exceeded";
      ipv4.ttl -= 1;
      let number = routes4[ipv4.dst] else 0;
      forward(number);
    } else if ipv6 {
      require ipv6.hop_limit > 1 else drop "time exceeded";
      ipv6.hop_limit -= 1;
      let number = routes6[ipv6.dst] else 0;
      forward(number);
    } else {
      drop "not IP";
    }
  }
}
