/// Flows: what the parsers of the library call `flow`.

/// One direction of a conversation. IPv4 addresses are IPv4-mapped (RFC 4291, section 2.5.5.2), absent parts are 0,
/// and an ICMP echo has its identifier as both ports.
struct Flow { src: ipv6, dst: ipv6, sport: u16, dport: u16, protocol: u8 }

/// One end of an IPv4 conversation, such as a translated address and port.
struct Endpoint { ip: ipv4, port: u16 }

/// The other direction.
fn reversed(f: Flow) -> Flow {
  Flow { src: f.dst, dst: f.src, sport: f.dport, dport: f.sport, protocol: f.protocol }
}

/// The same for both directions: the one whose source, as (address, port), is not above its destination.
fn canonical(f: Flow) -> Flow {
  if f.src < f.dst or f.src == f.dst and f.sport <= f.dport { f } else { reversed(f) }
}

/// What all fragments of a packet have in common.
fn without_ports(f: Flow) -> Flow {
  Flow { src: f.src, dst: f.dst, sport: 0, dport: 0, protocol: f.protocol }
}
