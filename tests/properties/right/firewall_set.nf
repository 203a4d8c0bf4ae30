/// A firewall that remembers who spoke to whom in a set.
use net.l4;

nf firewall_set {
  port inside, outside;
  state { talks: set<Flow> { capacity 64K; idle 30s; when full drop; } }
  use test.firewall { idle: 30s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    talks.add(flow);
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else drop "not TCP or UDP";
    require flow.reversed in talks else drop "unsolicited";
    send inside;
  }
}
