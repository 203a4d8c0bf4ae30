/// A VXLAN tunnel end point (RFC 7348) for one network: frames of the access side travel over the fabric in UDP.
use net.tunnel;

/// This end point, the router it sends to, and who gets what it cannot place: another end point or a multicast group.
struct Vtep { vni: bit<24>, ip: ipv4, mac: mac, gateway: mac, flood: ipv4 }

nf vxlan_gateway {
  port access, fabric;
  config vtep: Vtep;
  use test.tunnel;

  relevant outer.ethernet.dst, outer.ipv4.{src, dst} when vxlan, vxlan.vni when vxlan,
           inner.ethernet.src when inner.ethernet, flow;

  state {
    /// Behind which end point a station is (RFC 7348, section 4.1). Ages like a bridge's table.
    remote: map<mac, ipv4> { capacity 64K; age 300s; when full evict oldest; }
  }
  schedule { class flow; fifo; }

  /// 01:00:5e and the low 23 bits of the group (RFC 1112, section 6.4).
  fn group_mac(group: ipv4) -> mac { (0x01005e as bit<24> ++ 0 as bit<1> ++ group[22:0]) as mac }

  on packet from access {
    require not outer.vlan[0] else drop "tagged";             // RFC 7348, section 6.1
    let to = remote[outer.ethernet.dst] else vtep.flood;
    let next_mac = if to in 224.0.0.0/4 { group_mac(to) } else { vtep.gateway };
    push ethernet { src: vtep.mac, dst: next_mac } before outer.ethernet;
    push ipv4 { src: vtep.ip, dst: to, dont_fragment: 1 } before outer.ethernet;
    // The source port spreads flows over the fabric's paths (section 5); the checksum is 0.
    push udp { sport: 49152 + (hash(flow) % 16384) as u16, dport: VXLAN_PORT } before outer.ethernet;
    push vxlan { vni: vtep.vni } before outer.ethernet;
    send fabric;
  }

  on packet from fabric {
    require vxlan and inner.ethernet and outer.ipv4 else drop "not VXLAN";
    require outer.ipv4.dst == vtep.ip or outer.ipv4.dst == vtep.flood else drop "for another end point";
    require vxlan.vni == vtep.vni else drop "another network";
    require not inner.vlan else drop "tagged";
    require inner.ethernet.src[40:40] == 0 else drop "group address as source";
    remote[inner.ethernet.src] = outer.ipv4.src;
    pop outer.ethernet..vxlan;
    send access;
  }

  /// Frames of one flow take one path, by a port of those for it (RFC 6335, section 6). Who sees the flow inside knows
  /// which, so that packets captured on the fabric can be told to their flows.
  property entropy {
    for p, q in trace where p.sent and q.sent and p.in_port == access and q.in_port == access and p.flow == q.flow
    expect p.out.outer.udp.sport == q.out.outer.udp.sport and p.out.outer.udp.sport >= 49152;
    for p in trace where p.sent and p.in_port == access
    expect p.out.outer.udp.sport == 49152 + (hash(p.flow) % 16384) as u16;
  }

  /// A station is reached where it was heard last.
  property learned {
    for p, q in trace where p.sent and q.sent and p.in_port == fabric and q.in_port == access and q.at - p.at < 300s
      and q.in.outer.ethernet.dst == p.in.inner.ethernet.src and not evicted(p.in.inner.ethernet.src)
      and not (exists r in trace where (r.sent or r.reason == "short frame") and r.in_port == fabric
               and r.at >= p.at and r.at <= q.at
               and r.in.inner.ethernet.src == p.in.inner.ethernet.src and r.in.outer.ipv4.src != p.in.outer.ipv4.src)
    expect q.out.outer.ipv4.dst == p.in.outer.ipv4.src;
  }

  /// Frame by frame into the fabric: to where the station was heard, or to all, in a tunnel packet that is complete.
  property into_the_fabric {
    for p in trace where p.sent and p.in_port == access
    let own = p.before.vtep;
    let heard = p.before.remote[p.in.outer.ethernet.dst];
    let to = if p.in.outer.ethernet.dst in p.before.remote { heard } else { own.flood };
    expect p.ports == {fabric} and not p.in.outer.vlan[0] and p.out.outer.ipv4.src == own.ip
      and p.out.outer.ipv4.dst == to and p.out.outer.ethernet.src == own.mac and p.out.outer.udp.dport == 4789
      and p.out.outer.ipv4.dont_fragment == 1;
    expect if to in 224.0.0.0/4 {
      p.out.outer.ethernet.dst >= 01:00:5e:00:00:00 and p.out.outer.ethernet.dst <= 01:00:5e:7f:ff:ff
    } else {
      p.out.outer.ethernet.dst == own.gateway
    };
    expect not p.out.vxlan or p.out.vxlan.vni == own.vni;
  }

  /// And out of it: only this network's packets for this end point, and who sent them is remembered.
  property out_of_the_fabric {
    for p in trace where p.sent and p.in_port == fabric
    let own = p.before.vtep;
    expect p.ports == {access} and p.in.vxlan.vni == own.vni
      and (p.in.outer.ipv4.dst == own.ip or p.in.outer.ipv4.dst == own.flood)
      and p.in.inner.ethernet.src[40:40] == 0
      and p.after.remote[p.in.inner.ethernet.src] == p.in.outer.ipv4.src;
  }

  /// What is dropped is dropped for what it is, and all else crosses.
  property reasons {
    for p in trace where p.in_port == access and p.in.outer.ethernet
    expect (p.reason == "tagged") == (p.in.outer.vlan[0]) and (p.sent or p.reason in {"tagged", "short frame"});
    for p in trace where p.in_port == fabric and p.in.outer.ethernet
    let own = p.before.vtep;
    let tunnelled = p.in.vxlan and p.in.inner.ethernet and p.in.outer.ipv4;
    let here = tunnelled and (p.in.outer.ipv4.dst == own.ip or p.in.outer.ipv4.dst == own.flood);
    let ours = here and p.in.vxlan.vni == own.vni;
    let plain = ours and not p.in.inner.vlan;
    expect (p.reason == "not VXLAN") == not tunnelled;
    expect (p.reason == "for another end point") == (tunnelled and not here);
    expect (p.reason == "another network") == (here and not ours) and (p.reason == "tagged") == (ours and not plain);
    expect (p.reason == "group address as source") == (plain and p.in.inner.ethernet.src[40:40] == 1);
    expect p.sent or p.reason in {"not VXLAN", "for another end point", "another network", "tagged",
                                  "group address as source", "short frame"};
  }

  /// A station is forgotten 300 s after it was last heard.
  property ages {
    for p, q in trace where p.sent and p.in_port == fabric and q.in_port == access
      and q.in.outer.ethernet.dst == p.in.inner.ethernet.src
      and not evicted(remote[p.in.inner.ethernet.src], p.at..q.at + 1ns)
      and not (exists r in trace where p.number < r.number and r.number < q.number
               and r.in_port == fabric and r.in.inner.ethernet.src == p.in.inner.ethernet.src)
    expect (p.in.inner.ethernet.src in q.before.remote) == (q.at - p.at < 300s);
  }
}
