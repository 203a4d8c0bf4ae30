/// A firewall with one entry for both directions of a conversation, which says who began it.
use net.l4;

nf firewall_canonical {
  port inside, outside;
  state { talks: map<Flow, Flow> { capacity 16K; idle 1min; when full drop; } }
  use test.firewall { idle: 1min, answers_refresh: true };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    talks[flow.canonical] = flow;
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else drop "not TCP or UDP";
    let began = talks[flow.canonical] else drop "unsolicited";
    require began == flow.reversed else drop "not by us";
    send inside;
  }
}
