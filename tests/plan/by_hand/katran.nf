use net.l4;

/// TCP and UDP travel to a backend inside another packet, like those of Katran; the rest is answered.
nf katran {
  port clients, backends;
  relevant ipv4.{src, dst, protocol, ttl}, flow else drop "not IPv4";
  on packet {
    if l4 {
      push ipv4 { src: 10.0.0.1, dst: 10.0.0.2 } before ipv4;
      send backends;
    }
    ipv4.ttl = 9;
    send clients;
  }
}
