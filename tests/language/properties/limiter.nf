/// A policer per flow: the catalogue's properties of rate limits.
use net.l4;

nf limiter {
  port lan, wan;
  param rate: bitrate = 8Mbps;
  param burst: bytes = 16KB;

  state {
    meters: map<Flow, token_bucket(rate, burst)> { capacity 64K; idle 60s; when full evict oldest; }
  }

  on packet from lan {
    require meters[flow].take(len) else drop "over the rate";
    send wan;
  }

  property never_above {
    for p, q in trace where p.flow == q.flow and p.at < q.at and not evicted(meters[p.flow])
    let passed = bytes(p.flow, p.at..q.at);
    expect (max(passed, burst) - burst) / (q.at - p.at) <= rate;
  }

  property never_below {
    for p, q in trace where p.flow == q.flow and p.at < q.at
    let offered = sum(r in trace where r.flow == p.flow and within(r.at, p.at..q.at): r.len);
    let most = max(r in trace where r.flow == p.flow: r.len);
    let passed = bytes(p.flow, p.at..q.at) + most;
    expect passed >= offered or passed / (q.at - p.at) >= rate;
  }

  property poll_invariance {
    expect outputs(steps: 10) == outputs() and outputs(steps: 1000) == outputs();
  }

  // A flow that always offers more than the rate gets the rate, in the long run, within 1 %.
  property long_run {
    for p, q in trace where p.flow == q.flow and q.at - p.at > 10s and no_gap(p.flow, 1ms, p.at..q.at)
      and not evicted(meters[p.flow])
    expect bytes(p.flow, p.at..q.at) * 100 / (q.at - p.at) >= rate * 99;
  }
}
