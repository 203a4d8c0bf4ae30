/// A router with several equal ways, chosen by flow, which takes nothing from sources that it would not send to.
use net.l4;

struct Way { out: port, neighbour: mac }

nf router_ecmp {
  port lan, wan, dmz;
  param own: mac = 02:00:00:00:00:01;
  config routes: lpm<ipv4, port>;
  config ways: list<Way>;
  use test.router;

  on packet {
    require ipv4 else drop "not IPv4";
    require ipv4.ihl == 5 or ipv4.ttl > 1 else drop "time exceeded";
    require ipv4.ttl > 1 else drop "time exceeded";
    let back = routes[ipv4.src] else drop "no way back";
    require back == in_port else drop "from the wrong side";
    require ways.len > 0 else drop "no way";
    let way = ways[hash(flow) % ways.len];
    require way.out != in_port else drop "back";
    ipv4.ttl -= 1;
    ethernet.src = own;
    ethernet.dst = way.neighbour;
    send way.out;
  }
}
