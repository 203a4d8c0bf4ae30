/// A firewall that remembers flows from both sides: whoever knocks twice is in.
use net.l4;

nf open_firewall {
  port inside, outside;
  param idle: duration = 30s;

  state { known: set<Flow> { capacity 64K; idle idle; when full drop; } }

  use test.firewall;

  on packet from inside {
    require l4 else drop "not TCP or UDP";
    known.add(flow);
    send outside;
  }

  on packet from outside {
    require l4 else drop "not TCP or UDP";
    let seen = flow.reversed in known or flow in known;
    known.add(flow);
    require seen else drop "unsolicited";
    send inside;
  }
}
