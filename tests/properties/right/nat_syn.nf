/// A NAT whose TCP mappings begin with a SYN and end with a RST; what has options is refused.
use net.l4;

nf nat_syn {
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
    require ipv4.ihl == 5 else drop "options";
    let mine = flows[flow] else {
      require udp or tcp.syn == 1 and tcp.ack == 0 else drop "no such connection";
      let free = ports.take() else drop "no free port";
      flows[flow] = free;
      free
    };
    ipv4.src = mine.ip;
    l4.sport = mine.port;
    if tcp and tcp.rst == 1 { remove flows[flow]; }
    send outside;
  }

  on packet from outside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.ihl == 5 else drop "options";
    let found = answers[(ipv4.protocol, Endpoint { ip: ipv4.dst, port: l4.dport }, flow.src, l4.sport)]
      else drop "unsolicited";
    ipv4.dst = found.key.src as ipv4;
    l4.dport = found.key.sport;
    send inside;
  }
}
