use net.tunnel;

/// Every header adds to a sum of its own, so hardly two kinds of packets mean the same to it.
nf anatomist {
  port a, b;
  state { sum: u64; }

  on packet {
    if outer.vlan[0] { sum += 1; }
    if outer.vlan[1] { sum += 1; }
    if outer.ipv4 { sum += 1; }
    if outer.ipv6_ext { sum += 1; }
    if outer.udp { sum += 1; }
    if gre { sum += 1; }
    if vxlan { sum += 1; }
    if geneve { sum += 1; }
    if mpls[0] { sum += 1; }
    if mpls[1] { sum += 1; }
    if mpls[2] { sum += 1; }
    if inner.ethernet { sum += 1; }
    if inner.vlan { sum += 1; }
    if inner.ipv4 { sum += 1; }
    if inner.ipv6 { sum += 1; }
    if inner.tcp { sum += 1; }
    if inner.udp { sum += 1; }
    if inner.icmp { sum += 1; }
    send b;
  }
}
