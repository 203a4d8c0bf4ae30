/// A load balancer without memory: of all servers that which likes the flow best (rendezvous hashing).
use net.l4;

nf balancer_rendezvous {
  port clients, servers;
  param service: ipv4 = 192.0.2.1;
  config farm: list<ipv4>;
  use test.load_balancer { idle: 1min, sticky: false };

  on packet from clients {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == service else drop "not for us";
    require farm.len > 0 else drop "no server";
    let n = farm.len;
    let one = farm[hash(flow) % n];
    let other = farm[hash(flow, 1 as u8) % n];
    let server = if hash(flow, one) > hash(flow, other) { one } else { other };
    ipv4.dst = server;
    send servers;
  }
  on packet from servers {
    require ipv4 and ipv4.ttl > 1 else drop "expired";
    send clients;
  }
}
