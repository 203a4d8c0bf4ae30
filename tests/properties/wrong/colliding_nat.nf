/// A NAT that counts its ports up by itself: nobody remembers which of them are in use, so after a while two hosts share
/// one, and answers go to the wrong host.
use net.l4;

nf colliding_nat {
  port inside, outside;
  param public: ipv4 = 203.0.113.1;
  param idle: duration = 60s;

  state {
    out:  map<Flow, u16> { capacity 64K; idle idle; when full drop; }
    back: map<(u8, u16), Endpoint> { capacity 64K; idle idle; when full drop; }
    next: bit<2>;
  }

  use test.nat;

  on packet from inside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    let port = out[flow] else {
      next += 1;
      out[flow] = 1024 + next as u16;
      1024 + next as u16
    };
    back[(ipv4.protocol, port)] = Endpoint { ip: ipv4.src, port: l4.sport };
    ipv4.src = public;
    l4.sport = port;
    send outside;
  }

  on packet from outside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == public else drop "not for the NAT";
    let host = back[(ipv4.protocol, l4.dport)] else drop "unsolicited";
    ipv4.dst = host.ip;
    l4.dport = host.port;
    send inside;
  }
}
