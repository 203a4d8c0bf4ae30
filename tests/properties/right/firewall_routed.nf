/// A firewall in a router: what expires, is too long or is mail is not let through either.
use net.l4;

nf firewall_routed {
  port inside, outside;
  param quiet: duration = 10s;
  state { last: map<Flow, time> { capacity 64K; age 1h; when full drop; } }
  use test.firewall { idle: 10s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    require not (ipv4 and ipv4.ttl <= 1 or ipv6 and ipv6.hop_limit <= 1) else drop "expired";
    if ipv4 { ipv4.ttl -= 1; } else if ipv6 { ipv6.hop_limit -= 1; }
    require not (tcp and flow.dport == 25) else drop "mail";
    require len <= 1514B else drop "too long";
    last[flow] = now;
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else drop "not TCP or UDP";
    let heard = last.peek(flow.reversed) else drop "unsolicited";
    require now - heard < quiet else drop "too late";
    require not (ipv4 and ipv4.ttl <= 1 or ipv6 and ipv6.hop_limit <= 1) else drop "expired";
    if ipv4 { ipv4.ttl -= 1; } else if ipv6 { ipv6.hop_limit -= 1; }
    require len <= 1514B else drop "too long";
    last[flow.reversed] = now;
    send inside;
  }
}
