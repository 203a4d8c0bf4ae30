/// The edge of an MPLS network (RFC 3031, RFC 3443): a label by prefix, popped by whom it is for.
use net.tunnel;

struct Path { label: bit<20>, mac: mac }

nf tunnel_mpls {
  port access, fabric;
  config paths: lpm<ipv4, Path>;
  config own:   map<bit<20>, mac>;
  use test.tunnel;

  on packet from access {
    require outer.ipv4 and not outer.vlan[0] else drop "not IPv4";
    require outer.ipv4.ttl > 1 else drop "time exceeded";
    let path = paths[outer.ipv4.dst] else drop "no path";
    outer.ipv4.ttl -= 1;
    outer.ethernet.dst = path.mac;
    push mpls { label: path.label, s: 1, ttl: outer.ipv4.ttl } before outer.ipv4;
    send fabric;
  }
  on packet from fabric {
    require mpls[0] and not mpls[1] and inner.ipv4 and not outer.vlan[0] else drop "not IPv4 behind one label";
    let mac = own[mpls[0].label] else drop "unknown label";
    require mpls[0].ttl > 1 else drop "time exceeded";
    inner.ipv4.ttl = min(inner.ipv4.ttl, mpls[0].ttl) - 1;
    outer.ethernet.dst = mac;
    pop mpls[0];
    send access;
  }
}
