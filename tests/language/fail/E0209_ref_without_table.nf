use net.l4;

nf balancer {
  port clients, servers;
  config backends: list<ipv4>;
  state { sticky: map<Flow, ref backend> { capacity 1K; idle 30s; when full evict oldest; } }
  on packet { send servers; }
}
