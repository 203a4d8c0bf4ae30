use net.l4;

nf balancer {
  port clients, servers;
  state { load: array<u64>[16]; }
  on packet {
    load[crc32(flow) % 16] += 1;
    send servers;
  }
}
