/// A load balancer with an IPv4 header of its own, which does not say that one of its fields is a checksum and which
/// fields TCP and UDP cover: so nothing follows when the destination changes.
use net.ethernet;
use net.ip;
use net.tcp;
use net.udp;
use net.flow;

header ipv4 {
  version: bit<4> = 4;
  ihl: bit<4> length(header / 4);
  dscp: bit<6> = 0;
  ecn: bit<2> = 0;
  total_length: u16 length(header + rest);
  identification: u16 = 0;
  flags: bit<3> = 0;
  fragment_offset: bit<13> = 0;
  ttl: u8 = 64;
  protocol: u8 next IpProtocol;
  checksum: u16;
  src: ipv4;
  dst: ipv4;
  options: rest;

  valid version == 4 and ihl >= 5 and total_length >= ihl as u16 * 4;
  size ihl as u16 * 4;
  end total_length;
}

parser plain {
  state start { extract ethernet; select ethernet.ether_type { EtherType.ipv4 => ipv4; } }
  state ipv4 {
    extract ipv4;
    select (ipv4.flags[0:0], ipv4.fragment_offset, ipv4.protocol) {
      (0, 0, IpProtocol.tcp) => tcp;
      (0, 0, IpProtocol.udp) => udp;
    }
  }
  state tcp { extract tcp; }
  state udp { extract udp; }

  group l4 = tcp | udp;
  value fragment: bool = if ipv4 { ipv4.flags[0:0] == 1 or ipv4.fragment_offset != 0 } else { false };
  value flow: Flow = Flow {
    src: if ipv4 { ipv4.src as ipv6 } else { :: },
    dst: if ipv4 { ipv4.dst as ipv6 } else { :: },
    sport: if l4 { l4.sport } else { 0 },
    dport: if l4 { l4.dport } else { 0 },
    protocol: if ipv4 { ipv4.protocol } else { 0 }
  };
}

nf forgetful_balancer {
  port clients, servers;
  param idle: duration = 30s;
  param service: ipv4 = 10.0.0.100;
  config backends: list<ipv4>;

  state {
    sticky: map<Flow, ref backends> { capacity 64K; idle idle; when full drop; }
    turn:   u32;
  }

  use test.load_balancer;

  on packet from clients {
    require ipv4 and l4 else drop "not TCP or UDP over IPv4";
    require ipv4.dst == service else drop "not for the service";
    let backend = sticky[flow] else {
      let chosen = backends[turn % backends.len];
      turn += 1;
      sticky[flow] = chosen;
      chosen
    };
    ipv4.dst = backend;
    send servers;
  }
}
