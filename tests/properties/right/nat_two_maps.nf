/// A NAT for one public address: a port is free if nobody answers to it, and both directions are maps of their own,
/// which live equally long because every packet writes both. UDP and TCP have different lifetimes.
use net.l4;

nf nat_two_maps {
  port inside, outside;
  param public: ipv4 = 198.51.100.1;

  state {
    out:  map<(u8, ipv4, u16), u16> { capacity 1K; idle lifetime(key.0) max 10min; when full drop; }
    back: map<(u8, u16), Endpoint> { capacity 1K; idle lifetime(key.0) max 10min; when full drop; }
  }

  use test.nat { idle: 1min, tcp_idle: 10min, lowest: 1024, endpoint_independent: true, icmp_errors: false };

  fn lifetime(protocol: u8) -> duration { if protocol == IpProtocol.tcp { 10min } else { 1min } }

  on packet from inside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    let host = Endpoint { ip: ipv4.src, port: l4.sport };
    let wanted = 1024 + (hash(ipv4.protocol, host) % 64000) as u16;
    let mine = out[(ipv4.protocol, ipv4.src, l4.sport)] else wanted;
    let owner = back[(ipv4.protocol, mine)] else host;
    require owner == host else drop "port in use";
    out[(ipv4.protocol, ipv4.src, l4.sport)] = mine;
    back[(ipv4.protocol, mine)] = host;
    ipv4.src = public;
    l4.sport = mine;
    send outside;
  }

  on packet from outside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == public else drop "not for us";
    let host = back[(ipv4.protocol, l4.dport)] else drop "unsolicited";
    out[(ipv4.protocol, host.ip, host.port)] = l4.dport;
    ipv4.dst = host.ip;
    l4.dport = host.port;
    send inside;
  }
}
