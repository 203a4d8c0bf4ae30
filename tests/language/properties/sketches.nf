/// A probe: the catalogue's properties of sketches, and of what an NF emits.
use net.l4;

header report { src: ipv6; dst: ipv6; octets: u64; }

nf sketches {
  port left_side, right_side, collector;

  state {
    octets: count_min<Flow> { error 1%; confidence 99%; }
    seen:   bloom<Flow> { capacity 64K; error 1%; }
    hosts:  hyperloglog<ipv6> { error 2%; }
    top:    top_k<Flow> { k 10; error 1%; }
  }

  on packet from left_side {
    octets.add(flow, len as u64);
    seen.add(flow);
    hosts.add(flow.src);
    top.add(flow, len as u64);
    emit ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 },
         report { src: flow.src, dst: flow.dst, octets: octets.estimate(flow) } to collector;
    send right_side;
  }

  property count_min_never_under_counts {
    for p in trace where p.sent
    let octets = sum(r in trace where r.sent and r.number <= p.number and r.flow == p.flow: r.len);
    expect p.after.octets.estimate(p.flow) >= octets as u64;
  }

  // At most 1 % of the flows are over by more than 1 % of all bytes.
  property count_min_error_at_confidence {
    for p in trace where p.sent
    let all = sum(r in trace where r.sent and r.number <= p.number: r.len);
    expect distinct(q in trace where q.sent and q.number <= p.number
                    and p.after.octets.estimate(q.flow) as bytes
                        > sum(r in trace where r.sent and r.number <= p.number and r.flow == q.flow: r.len) + all / 100:
                    q.flow) * 100
           <= distinct(q in trace where q.sent and q.number <= p.number: q.flow);
  }

  property bloom_has_no_false_negatives {
    for p, q in trace where p.sent and q.sent expect p.flow in q.after.seen;
  }

  // Three standard errors of 2 % each, and one for small numbers.
  property hyperloglog_error_bound {
    for p in trace where p.sent
    let hosts = distinct(r in trace where r.sent and r.number <= p.number: r.flow.src);
    let estimate = p.after.hosts.estimate();
    expect estimate * 100 <= hosts * 106 + 100 and (estimate + 1) * 100 >= hosts * 94;
  }

  property top_flows_are_not_under_counted {
    for p in trace where p.sent
    for f, n in p.after.top
    expect n as bytes >= sum(r in trace where r.sent and r.number <= p.number and r.flow == f: r.len);
  }

  property reports_say_what_caused_them {
    for e in emitted
    expect e.report and e.report.src == e.cause.flow.src
      and e.report.octets == e.cause.after.octets.estimate(e.cause.flow)
      and e.at == e.cause.at and e.port == collector and e.ethernet.src == 02:00:00:00:00:01 and checksums_valid(e);
  }
}
