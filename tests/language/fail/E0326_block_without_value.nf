use net.l4;

nf balancer {
  port clients, servers;
  config backends: list<ipv4>;
  state { sticky: map<Flow, ref backends> { capacity 1M; idle 30s; when full evict oldest; } }
  on packet {
    require ipv4 else drop "not IPv4";
    let backend = sticky[flow] else { sticky[flow] = backends[hash(flow) % backends.len]; };
    ipv4.dst = backend;
    send servers;
  }
}
