/// The end of a tunnel, with the parser of `net.tunnel`: what comes from `access` is wrapped for `fabric`, and what
/// comes from there is unwrapped. What both sides see of the frame or packet inside is the same.
///
/// It cannot know who is in which tunnel, and looks at TCP over IPv4 inside.
use net.ip;

block tunnel {
  port access, fabric;

  /// What goes into the tunnel is inside it as it was. (Behind a second VLAN tag inside, the parser sees nothing.)
  property encapsulates {
    for p in trace where p.sent and p.in_port == access and p.out_port == fabric and p.in.outer.ipv4 and p.in.outer.tcp
      and not p.in.outer.vlan[1]
    expect p.out.inner.ipv4.src == p.in.outer.ipv4.src and p.out.inner.ipv4.dst == p.in.outer.ipv4.dst
      and p.out.inner.tcp.sport == p.in.outer.tcp.sport and p.out.inner.tcp.dport == p.in.outer.tcp.dport
      and p.out.inner.tcp.sequence == p.in.outer.tcp.sequence and p.out.inner.tcp.checksum == p.in.outer.tcp.checksum
      and p.out.payload == p.in.payload and p.out.len > p.in.len;
  }

  /// A tunnel for frames carries their Ethernet header as it was.
  property encapsulates_frames {
    for p in trace where p.sent and p.in_port == access and p.out_port == fabric and p.out.inner.ethernet
    expect p.out.inner.ethernet.dst == p.in.outer.ethernet.dst and p.out.inner.ethernet.src == p.in.outer.ethernet.src
      and p.out.inner.ethernet.ether_type == p.in.outer.ethernet.ether_type;
  }

  /// What comes out of the tunnel is what was inside. (Bytes behind the packet that was inside may come out or not.)
  property decapsulates {
    for p in trace where p.sent and p.in_port == fabric and p.out_port == access and p.in.inner.ipv4 and p.in.inner.tcp
      and p.in.payload.len + (p.in.inner.ipv4.ihl as u64 * 4 + p.in.inner.tcp.data_offset as u64 * 4) as bytes
      == p.in.inner.ipv4.total_length as bytes
    expect p.out.outer.ipv4.src == p.in.inner.ipv4.src and p.out.outer.ipv4.dst == p.in.inner.ipv4.dst
      and p.out.outer.tcp.sport == p.in.inner.tcp.sport and p.out.outer.tcp.dport == p.in.inner.tcp.dport
      and p.out.outer.tcp.sequence == p.in.inner.tcp.sequence and p.out.outer.tcp.checksum == p.in.inner.tcp.checksum
      and p.out.payload == p.in.payload and p.out.len < p.in.len;
  }

  /// A tunnel for frames gives their Ethernet header back as it was.
  property decapsulates_frames {
    for p in trace where p.sent and p.in_port == fabric and p.out_port == access and p.in.inner.ethernet
    expect p.out.outer.ethernet.dst == p.in.inner.ethernet.dst and p.out.outer.ethernet.src == p.in.inner.ethernet.src
      and p.out.outer.ethernet.ether_type == p.in.inner.ethernet.ether_type;
  }

  /// Every packet crosses, or goes nowhere.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// A packet that comes with right checksums leaves with right ones. (Said of what comes out of the tunnel where TCP
  /// was seen inside, all of it: a checksum that nobody saw go in may be wrong already.)
  property checksums_follow {
    for p in trace where p.sent
      and (p.in_port != fabric or p.in.outer.ipv4.more_fragments == 0 and p.in.inner.ipv4 and p.in.inner.tcp)
    expect checksums_valid(p);
  }
}
