/// A NAT that takes public ports one after the other, from a counter, and skips those in use.
use net.l4;

nf nat_counter {
  port inside, outside;
  param public: ipv4 = 198.51.100.7;
  state {
    last: u16;
    out:  map<(u8, Endpoint), u16> { capacity 8K; idle 5min; when full drop; }
    index back: out by (key.0, value);
  }
  use test.nat { idle: 5min, lowest: 1024, endpoint_independent: true, icmp_errors: false };

  on packet from inside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    let host = (ipv4.protocol, Endpoint { ip: ipv4.src, port: l4.sport });
    let mine = out[host] else {
      let wanted = 1024 + last % 60000;
      last = (last + 1) % 60000;
      require not ((ipv4.protocol, wanted) in back) else drop "port in use";
      out[host] = wanted;
      wanted
    };
    ipv4.src = public;
    l4.sport = mine;
    send outside;
  }
  on packet from outside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == public else drop "not for us";
    let found = back[(ipv4.protocol, l4.dport)] else drop "unsolicited";
    ipv4.dst = found.key.1.ip;
    l4.dport = found.key.1.port;
    send inside;
  }
}
