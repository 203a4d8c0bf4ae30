/// A link shared by weight: the catalogue's properties of schedules.
use net.l4;

nf scheduler {
  port lan, wan;
  param link: bitrate = 100Mbps;
  param longest: bytes = 1514B;
  param hold: duration = 2s;

  schedule { class flow; drr weight(flow.dport); serve 100Mbps; classes 4K; buffer 16MB; when full drop; }

  fn weight(port: u16) -> u64 { if port == 443 { 2 } else { 1 } }

  on packet from lan { send wan; }

  property conservation {
    expect count(p in trace) == count(p in trace where p.sent) + count(p in trace where p.dropped)
                                + count(p in trace where p.held);
  }

  property order_within_a_class {
    for p, q in trace where p.sent and q.sent and p.class == q.class expect p.left <= q.left and p.place < q.place;
  }

  property hold_time {
    for p in trace where p.sent expect p.left - p.at <= hold;
    for p, q in trace where p.held expect q.at - p.at <= hold;
  }

  // While a packet waits, its link is busy, but for the packet that is just on its way.
  property work_conservation {
    for p in trace where p.sent and p.left > p.at
    let served = sum(r in trace where r.out_port == p.out_port and within(r.left, p.at..p.left): r.out.len);
    expect (served + longest) / (p.left - p.at) >= link;
  }

  // While both classes have something to send, they get bytes by their weights, but for a few packets each.
  property shares_by_weight {
    for p, q in trace where p.sent and q.sent and p.class != q.class and max(p.at, q.at) < min(p.left, q.left)
    let a = max(p.at, q.at);
    let b = min(p.left, q.left);
    let of_p = bytes(class: p.class, a..b) / weight(p.flow.dport);
    let of_q = bytes(class: q.class, a..b) / weight(q.flow.dport);
    expect max(of_p, of_q) - min(of_p, of_q) <= longest * 3;
  }
}
