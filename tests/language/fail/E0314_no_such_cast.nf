use net.l4;

nf balancer {
  port clients, servers;
  state { load: array<u64>[16]; }
  on packet {
    load[flow as u64 % 16] += 1;
    send servers;
  }
}
