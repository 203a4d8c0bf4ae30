/// A packet filter that also refuses what attackers like: IPv4 options, tiny fragments, packets about to expire, long
/// pings.
use net.l4;

nf acl_hardened {
  port inside, outside;
  use test.acl;

  on packet from inside { send outside; }
  on packet from outside {
    require ip else drop "not IP";
    if ipv4 {
      require ipv4.ihl == 5 else drop "options";
      require ipv4.fragment_offset != 1 else drop "tiny fragment";
      require ipv4.ttl >= 5 else drop "about to expire";
    }
    if icmp { require len <= 1000B else drop "long ping"; }
    if tcp { require flow.dport != 23 else drop "telnet"; }
    send inside;
  }
}
