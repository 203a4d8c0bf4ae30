/// A limiter that drops: of every flow (or source) no more bytes pass than a burst and what a rate gives, and no fewer.
///
/// It cannot know which packets are limited: of fragments, and of what has no ports, nothing is said; nor of a flow
/// whose entry was thrown out, or found no room. What must pass is said of `ordinary` packets.
use net.flow;
use test.ordinary;

block limiter {
  /// What arrives here is limited.
  port inside;
  /// What every flow gets: `burst` at once after a silence, and `rate` in the long run.
  param rate:  bitrate;
  param burst: bytes;
  /// Is there one limit for all flows of a source together?
  param per_source: bool = false;
  /// Do IP packets count, without link headers?
  param layer3: bool = false;

  fn limited(f: Flow) -> Flow {
    if per_source { Flow { src: f.src, dst: ::, sport: 0, dport: 0, protocol: 0 } } else { f }
  }

  fn above(passed: bytes, time: duration) -> bool {
    passed > burst and (time == 0s or (passed - burst) / time > rate)
  }

  /// In no span of time, however short or long, does a flow get more than the burst and what the rate gives.
  property never_above {
    for p, q in trace where p.sent and q.sent and p.in_port == inside and q.in_port == inside
      and limited(p.flow) == limited(q.flow) and p.in.l4 and q.in.l4 and not p.fragment and not q.fragment
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and not (exists r in trace where r.number >= p.number and r.number <= q.number
               and limited(r.flow) == limited(p.flow) and full(r.at..r.at + 1ns))
    let passed = sum(r in trace where r.sent and r.in_port == inside and limited(r.flow) == limited(p.flow)
                       and r.in.l4 and not r.fragment and r.number >= p.number and r.number <= q.number:
                     if layer3 { r.in.ipv4.total_length as bytes } else { r.len });
    expect not above(passed, q.at - p.at);
  }

  /// Not even a single packet is more than a burst.
  property never_longer_than_a_burst {
    for p in trace where p.sent and p.in_port == inside and p.in.l4 and not p.fragment and not full(p.at..p.at + 1ns)
    let size = if layer3 { p.in.ipv4.total_length as bytes } else { p.len };
    expect not (size > burst);
  }

  /// No flow is starved: a packet is refused only if it, and what passed since some time, are more than the burst and
  /// what the rate gave since then. So a flow below its rate loses nothing, and one above it gets its rate, however
  /// many small steps time takes. (Said of flows that the NF lets through at all, which shows by a packet like them.
  /// A short frame counts: it is dropped only after the limiter let it pass.)
  property never_starved {
    for q in trace where q.dropped and q.in_port == inside and q.in.l4 and not q.fragment
      and not (q.reason in {"short frame", "no free class"}) and not full(q.at..q.at + 1ns)
      and ordinary(q) and goes_on(q)
      and (exists o in trace where between_hosts(o) and o.in.ethernet.dst == q.in.ethernet.dst and o.number < q.number
           and o.sent and o.in_port == inside and o.in.l4
           and not o.fragment and o.changes == q.changes and o.flow.protocol == q.flow.protocol
           and limited(o.flow) == limited(q.flow) and (o.flow.dst, o.flow.dport) == (q.flow.dst, q.flow.dport))
    let size = if layer3 { q.in.ipv4.total_length as bytes } else { q.len };
    expect size > burst
      or (exists p in trace where p.number < q.number and p.in_port == inside and limited(p.flow) == limited(q.flow)
          and (p.sent or p.reason == "short frame")
          and above(size + sum(r in trace where r.in_port == inside and limited(r.flow) == limited(q.flow)
                                 and (r.sent or r.reason == "short frame")
                                 and r.number >= p.number and r.number < q.number:
                               if layer3 { r.in.ipv4.total_length as bytes } else { r.len }),
                    q.at - p.at));
  }

  /// How often anything looks at the time makes no difference.
  property poll_invariance {
    expect outputs(steps: 10) == outputs();
  }

  /// No packet leaves by the port it came in.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// What passes, passes at once.
  property never_delayed {
    for p in trace where p.sent and p.in_port == inside expect p.left == p.at;
  }

  /// What passes is what came; only its DSCP may be marked.
  property only_limits {
    for p in trace where p.sent and p.in_port == inside and p.in.ip
    expect p.out.flow == p.flow and p.out.len == p.in.len and p.out.payload == p.in.payload and checksums_valid(p);
  }
}
