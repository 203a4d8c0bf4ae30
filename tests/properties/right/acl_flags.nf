/// A packet filter against scans, by header bits alone: TCP flags that no host sends, and ICMP that nobody needs.
use net.l4;

nf acl_flags {
  port inside, outside;
  use test.acl;

  on packet from inside {
    require ip else drop "not IP";
    send outside;
  }
  on packet from outside {
    require ip else drop "not IP";
    if tcp {
      require tcp.syn == 1 or tcp.ack == 1 or tcp.rst == 1 else drop "null or FIN scan";
      require not (tcp.fin == 1 and tcp.psh == 1 and tcp.urg == 1) else drop "Christmas tree";
    }
    if icmp {
      require icmp.type in {IcmpType.echo_reply, IcmpType.unreachable, IcmpType.time_exceeded} else drop "ICMP";
    }
    if icmpv6 { require icmpv6.type < 128 or icmpv6.type == 129 else drop "ICMPv6"; }
    send inside;
  }
}
