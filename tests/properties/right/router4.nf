/// An IPv4 router.
use net.l4;

struct Hop { via: port, mac: mac }

nf router4 {
  port west, east, north;
  config routes: lpm<ipv4, Hop>;
  use test.router;

  on packet {
    require ipv4 else drop "not IPv4";
    require ipv4.ttl > 1 else drop "time exceeded";
    let hop = routes[ipv4.dst] else drop "no route";
    ipv4.ttl -= 1;
    ethernet.dst = hop.mac;
    send hop.via;
  }
}
