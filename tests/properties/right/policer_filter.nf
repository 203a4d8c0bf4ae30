/// A policer of subscribers that also drops spoofed sources and mail.
use net.l4;

nf policer_filter {
  port subscribers, core;
  config known: set<ipv4>;
  state { meters: map<ipv4, token_bucket(10Mbps, 15000B)> { capacity 4K; idle 1min; when full drop; } }
  use test.policer { inside: subscribers, rate: 10Mbps, burst: 15000B };

  on packet from subscribers {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.src in known else drop "spoofed";
    require not (tcp and l4.dport == 25) else drop "mail";
    require ipv4.ttl > 1 else drop "expired";
    require meters[ipv4.src].take(ipv4.total_length as bytes) else drop "too fast";
    send core;
  }
  on packet from core { send subscribers; }
}
