/// A firewall that numbers the flows it knows: the catalogue's properties of state.
use net.l4;

nf firewall {
  port inside, outside;
  param idle: duration = 30s;

  state {
    numbers: pool<u32> { from 1..65535; }
    flows:   map<Flow, u32 from numbers> { capacity 64K; idle 30s; when full drop; }
  }

  on packet from inside {
    let number = flows[flow] else {
      let fresh = numbers.take() else drop "no number left";
      flows[flow] = fresh;
      fresh
    };
    send outside;
  }

  on packet from outside {
    let number = flows[flow.reversed] else drop "unsolicited";
    send inside;
  }

  property unsolicited_blocked {
    for q in trace where q.sent and q.in_port == outside
    expect exists p in trace where p.number < q.number and p.sent and p.in_port == inside and p.flow == q.flow.reversed;
  }

  property replies_pass {
    for p, q in trace where p.sent and p.in_port == inside and q.in_port == outside and q.flow == p.flow.reversed
      and q.at - p.at < idle
    expect q.sent;
  }

  property lookup_refreshes {
    for p, q, r in trace where p.sent and p.in_port == inside and q.in_port == outside and r.in_port == outside
      and q.flow == p.flow.reversed and r.flow == q.flow and q.at - p.at < idle and r.at - q.at < idle
    expect r.sent;
  }

  // Entries that are due at q.at end before q: hence the window up to and with q.at.
  property one_flow_one_allocation {
    for p, q in trace where p.sent and q.sent and p.in_port == inside and q.in_port == inside and p.flow == q.flow
      and not ended(flows[p.flow], p.at..q.at + 1ns)
    expect p.after.flows[p.flow] == q.after.flows[q.flow];
  }

  property expired_never_used {
    for q in trace where q.in_port == outside
      and not (exists p in trace where p.number < q.number and q.at - p.at < idle
               and (p.flow == q.flow.reversed and p.in_port == inside or p.flow == q.flow and p.in_port == outside))
    expect q.dropped;
  }

  property unexpired_never_lost {
    for p, q in trace where p.sent and p.in_port == inside and q.at - p.at < idle expect p.flow in q.before.flows;
  }

  property accounted {
    for p in trace
    expect p.sent and not p.dropped or p.dropped and p.reason != "" and not p.held or p.held and not p.sent;
    expect count(p in trace) == count(p in trace where p.sent) + count(p in trace where p.dropped)
                                + count(p in trace where p.held);
  }
}
