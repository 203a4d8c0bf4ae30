/// A packet filter whose rules stand in the code.
use net.l4;

nf acl_words {
  port inside, outside;
  config blocked: set<ipv6>;
  use test.acl;

  on packet from inside {
    require ip and not fragment else drop "no whole IP packet";
    require not (flow.dst in blocked) else drop "blocked";
    send outside;
  }
  on packet from outside {
    require ip and not fragment else drop "no whole IP packet";
    require not (flow.src in blocked) else drop "blocked";
    require tcp else drop "not TCP";
    require tcp.dport >= 1024 or tcp.dport == 22 or tcp.dport == 443 else drop "port";
    send inside;
  }
}
