/// A firewall that knows conversations by their flow in either direction, with the flow that began each.
use net.l4;

struct Talk { began: Flow, packets: u32 }

nf firewall_pairs {
  port inside, outside;
  state { talks: map<Flow, Talk> { capacity 64K; idle 1min; when full drop; } }
  use test.firewall { idle: 1min };

  on packet from inside {
    require ip and not fragment else drop "no whole IP packet";
    require l4 else drop "not TCP or UDP";
    let t = talks.peek(flow.canonical) else Talk { began: flow, packets: 0 };
    require t.began == flow else drop "answered from inside";
    talks[flow.canonical] = Talk { began: t.began, packets: t.packets + 1 };
    send outside;
  }
  on packet from outside {
    require ip and not fragment else drop "no whole IP packet";
    require l4 else drop "not TCP or UDP";
    let t = talks.peek(flow.canonical) else drop "unsolicited";
    require t.began == flow.reversed else drop "unsolicited";
    talks[flow.canonical] = Talk { began: t.began, packets: t.packets + 1 };
    send inside;
  }
}
