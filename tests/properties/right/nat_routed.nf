/// A NAT in a router, with one mapping for every flow: what expires, is too long or is mail is refused.
use net.l4;

nf nat_routed {
  port inside, outside;
  config public: list<ipv4>;

  state {
    ports: pool<Endpoint> { from public, 20000..20999; }
    flows: map<Flow, Endpoint from ports> { capacity 16K; idle 2min; when full drop; }
    index answers: flows by (key.protocol, value, key.dst, key.dport);
  }

  use test.nat { idle: 2min, lowest: 20000, highest: 20999, icmp_errors: false };

  on packet from inside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.ttl > 1 else drop "expired";
    ipv4.ttl -= 1;
    require not (tcp and flow.dport == 25) else drop "mail";
    require len <= 1514B else drop "too long";
    let mine = flows[flow] else {
      let free = ports.take() else drop "no free port";
      flows[flow] = free;
      free
    };
    ipv4.src = mine.ip;
    l4.sport = mine.port;
    send outside;
  }

  on packet from outside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.ttl > 1 else drop "expired";
    ipv4.ttl -= 1;
    require len <= 1514B else drop "too long";
    let found = answers[(ipv4.protocol, Endpoint { ip: ipv4.dst, port: l4.dport }, flow.src, l4.sport)]
      else drop "unsolicited";
    ipv4.dst = found.key.src as ipv4;
    l4.dport = found.key.sport;
    send inside;
  }
}
