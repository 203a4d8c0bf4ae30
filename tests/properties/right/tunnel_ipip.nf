/// An end of tunnels for IPv4 in IPv4 (RFC 2003), a router on either side: who is the other end, the destination says.
use net.tunnel;

struct Gateway { ip: ipv4, mac: mac }

nf tunnel_ipip {
  port access, fabric;
  param own:     ipv4 = 192.0.2.1;
  param own_mac: mac = 02:00:00:00:00:01;
  config gateways: lpm<ipv4, Gateway>;
  config hosts:    map<ipv4, mac>;
  use test.tunnel;

  on packet from access {
    require outer.ipv4 and not outer.vlan[0] else drop "not IPv4";
    require outer.ipv4.protocol != IpProtocol.ipv4 else drop "a tunnel already";
    require outer.ipv4.ttl > 1 else drop "time exceeded";
    let to = gateways[outer.ipv4.dst] else drop "no route";
    outer.ipv4.ttl -= 1;
    outer.ethernet.src = own_mac;
    outer.ethernet.dst = to.mac;
    push ipv4 { src: own, dst: to.ip, dscp: outer.ipv4.dscp, dont_fragment: 1 } before outer.ipv4;
    send fabric;
  }
  on packet from fabric {
    require outer.ipv4 and inner.ipv4 and not outer.vlan[0] else drop "not IPv4 in IPv4";
    require outer.ipv4.protocol == IpProtocol.ipv4 else drop "another tunnel";
    require outer.ipv4.dst == own and not outer_fragment else drop "not for us, or not whole";
    require inner.ipv4.ttl > 1 else drop "time exceeded";
    let to = hosts[inner.ipv4.dst] else drop "no such host";
    inner.ipv4.ttl -= 1;
    outer.ethernet.src = own_mac;
    outer.ethernet.dst = to;
    pop outer.ipv4;
    send access;
  }
}
