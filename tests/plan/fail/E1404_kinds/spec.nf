use net.ethernet;
use net.l4;

/// Packets to the VIP travel to a backend in another packet; pings are answered by fields alone.
nf tunnel {
  port clients, backends;
  relevant ipv4.{src, dst, protocol, ttl, total_length} else drop "not IPv4";
  schedule { class flow; fifo; }
  on packet {
    if l4 {
      push ipv4 { src: 10.0.0.1, dst: 10.0.0.2 } before ipv4;
      send backends;
    }
    ipv4.ttl = 9;
    send clients;
  }
}
