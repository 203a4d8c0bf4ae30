/// Who limits how many conversations a source has at a time. A conversation is a `flow` from `inside`, and lives as
/// long as it is not silent for `idle`, and no longer than it is silent for `longest`. Answers may keep it alive or not.
///
/// It cannot know what ends a conversation (FIN, RST), nor whether TCP begins with a SYN only, and says nothing while a
/// table is full. What must pass is said of `ordinary` packets.
use net.flow;
use test.ordinary;

block connection_limiter {
  port inside;
  /// So many at a time.
  param limit:   u64;
  param idle:    duration;
  param longest: duration = idle;

  /// No source has more conversations than it may.
  property never_above {
    for q in trace where q.sent and q.in_port == inside and q.in.l4 and not q.fragment
      and not full(q.at..q.at + 1ns)
    expect distinct(p in trace where p.sent and p.in_port == inside and p.in.l4 and not p.fragment
                      and p.flow.src == q.flow.src and p.number <= q.number and q.at - p.at < idle
                      and not full(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
                      and not (exists r in trace where r.number <= q.number
                               and (r.flow == p.flow or r.flow == p.flow.reversed)
                               and (r.in.tcp.fin == 1 or r.in.tcp.rst == 1)):
                    p.flow) <= limit;
  }

  fn opener(f: Flow, opens: bool) -> Flow { if opens { f } else { f.reversed } }

  /// Who has fewer is never refused a new one; of a service that others are let through to.
  property never_too_few {
    for q in trace where q.dropped and q.in_port == inside and q.in.l4 and not q.fragment
      and not (q.reason == "short frame") and not full(q.at..q.at + 1ns)
      and ordinary(q) and begins(q)
      and (exists o in trace where between_hosts(o) and o.sent and o.in_port == inside and o.in.l4 and not o.fragment
           and o.changes == q.changes and o.flow != q.flow
           and (o.flow.dst, o.flow.dport, o.flow.protocol) == (q.flow.dst, q.flow.dport, q.flow.protocol))
    expect distinct(p in trace where p.number < q.number and q.at - p.at < longest
                      and opener(p.flow, p.in_port == inside).src == q.flow.src
                      and opener(p.flow, p.in_port == inside) != q.flow
                      and (p.sent or p.reason == "short frame"): opener(p.flow, p.in_port == inside)) >= limit;
  }

  /// A conversation that was let through stays, as long as it is not silent.
  property live_ones_stay {
    for p, q in trace where p.sent and p.in_port == inside and q.in_port == inside and p.flow == q.flow
      and p.in.l4 and q.in.l4 and p.fragment == q.fragment and q.at - p.at < idle and p.changes == q.changes
      and not full(p.at..p.at + 1ns) and not full(q.at..q.at + 1ns)
      and ordinary(q) and between_hosts(p) and goes_on(q) and q.in.ethernet.dst == p.in.ethernet.dst
      and not evicted(p.at..q.at + 1ns) and not ended(End.removed, p.at..q.at + 1ns)
      and not (exists r in trace where r.number < q.number and (r.flow == p.flow or r.flow == p.flow.reversed)
               and (r.in.tcp.fin == 1 or r.in.tcp.rst == 1))
    expect not q.dropped or q.reason == "short frame";
  }

  /// No packet leaves by the port it came in.
  property never_back {
    for p in trace where p.sent expect not (p.in_port in p.ports);
  }

  /// What passes, passes as it is.
  property nothing_changes {
    for p in trace where p.sent and p.in.ip
    expect p.out.flow == p.flow and p.out.len == p.in.len and p.out.payload == p.in.payload and checksums_valid(p);
  }
}
