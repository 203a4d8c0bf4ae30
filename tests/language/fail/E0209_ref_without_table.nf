use net.l4;

nf balancer {
  port clients, servers;
  config backends: list<ipv4>;
  state { sticky: map<Flow, ref backend> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet {
    require ipv4 else drop "not IPv4";
    ipv4.dst = sticky[flow] else backends[0];
    send servers;
  }
}
