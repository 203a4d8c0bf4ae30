use net.l4;

nf balancer {
  port clients, servers;
  on packet {
    require ipv4 else drop "not IPv4";
    require ipv4.src[32:24] != 127 else drop "loopback";
    send servers;
  }
}
