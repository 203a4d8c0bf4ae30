/// A load balancer in a router: it remembers its choices, and refuses what expires, is too long or a martian.
use net.l4;

struct Server { ip: ipv4, mac: mac }

nf balancer_routed {
  port clients, servers;
  param service: ipv4 = 192.0.2.1;
  config farm: list<Server>;
  state {
    chosen: map<Flow, ref farm> { capacity 64K; idle 20s; when full drop; }
    next:   u32;
  }
  use test.load_balancer { idle: 20s };

  on packet from clients {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == service else drop "not for the service";
    require ipv4.ttl > 1 else drop "expired";
    ipv4.ttl -= 1;
    require len <= 1514B else drop "too long";
    require not (ipv4.src in 127.0.0.0/8) else drop "martian";
    let server = chosen[flow] else {
      let one = farm[next % farm.len];
      chosen[flow] = one;
      next += 1;
      one
    };
    ipv4.dst = server.ip;
    ethernet.dst = server.mac;
    send servers;
  }
  on packet from servers { drop "answers go another way"; }
}
