/// A load balancer without memory: a flow's hash says which server it has.
use net.l4;

nf balancer_hash {
  port clients, servers;
  param service: ipv4 = 192.0.2.1;
  config farm: list<ipv4>;
  use test.load_balancer { idle: 20s, sticky: false };

  on packet from clients {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == service else drop "not for the service";
    ipv4.dst = farm[hash(flow) % farm.len];
    send servers;
  }
  on packet from servers { drop "answers go another way"; }
}
