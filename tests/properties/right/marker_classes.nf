/// A classifier at the edge: DSCP by what a packet is for, and nothing else in what comes back.
use net.l4;

nf marker_classes {
  port customers, core;
  config voice:  set<ipv6>;
  config banned: set<(u8, u16)>;
  state { seen: array<u64>[64]; }
  use test.marker;

  on packet from customers {
    require ip else send core;
    if l4 { require not ((flow.protocol, l4.dport) in banned) else drop "service"; }
    ip.dscp = if flow.dst in voice { 46 }                   // EF (RFC 3246)
      else if icmp or icmpv6 { 16 }                         // CS2 (RFC 4594)
      else if fragment { 8 }                                // CS1: nobody can say what for
      else { 0 };
    seen[ip.dscp as u64] += 1;
    send core;
  }
  on packet from core { send customers; }
}
