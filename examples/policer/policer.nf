/// A two-rate three-colour policer per subscriber (RFC 2698, colour-blind): green passes, yellow passes with a worse
/// drop precedence, red is dropped.
use net.l4;

/// Committed and peak information rates and burst sizes. They count IP packets, no link headers (RFC 2698, section 2).
struct Plan { cir: bitrate, cbs: bytes, pir: bitrate, pbs: bytes }

/// The buckets C and P of RFC 2698. Rates and sizes are the plan's, so each `take` says them.
struct Meter { committed: token_bucket, peak: token_bucket }

nf policer {
  port subscribers, core;
  param yellow: bit<6> = 12;                           // AF12 (RFC 2597, section 6)
  config plans: map<ipv4, Plan>;
  config default_plan: Plan;
  use test.marker;

  relevant ipv4.{src, total_length} when ipv4;

  state {
    meters: map<ipv4, Meter> { capacity 64K; idle 60s; when full evict oldest; }
  }
  schedule { class flow; fifo; }

  on packet from subscribers {
    require ipv4 else send core;
    let plan = plans[ipv4.src] else default_plan;
    let size = ipv4.total_length as bytes;
    // RFC 2698, section 3: what P has no room for is red and takes nothing, also not from C.
    require meters[ipv4.src].peak.take(size, rate: plan.pir, burst: plan.pbs) else drop "red";
    let green = meters[ipv4.src].committed.take(size, rate: plan.cir, burst: plan.cbs);
    if not green { ipv4.dscp = yellow; }
    send core;
  }

  on packet from core { send subscribers; }

  /// In no window does a subscriber of the default plan get more than PBS and what PIR gives.
  property never_above_the_peak {
    for p, q in trace where p.sent and q.sent and p.in_port == subscribers and p.at < q.at and p.changes == q.changes
      and p.in.ipv4 and not (p.in.ipv4.src in p.before.plans) and not ended(p.in.ipv4.src, p.at..q.at + 1ns)
    let plan = p.before.default_plan;
    expect (max(sum(r in trace where r.sent and r.in_port == subscribers and r.in.ipv4.src == p.in.ipv4.src
                      and r.number >= p.number and r.number <= q.number: r.in.ipv4.total_length as bytes), plan.pbs)
            - plan.pbs) / (q.at - p.at) <= plan.pir;
  }

  /// RFC 2698, section 3, packet by packet: red is what the peak bucket has no room for, yellow (AF12) what then the
  /// committed one has none for.
  property three_colours {
    for p in trace where p.in_port == subscribers and p.in.ipv4
    let size = p.in.ipv4.total_length as bytes;
    let own = p.before.plans[p.in.ipv4.src];
    let plan = if p.in.ipv4.src in p.before.plans { own } else { p.before.default_plan };
    let red = not p.before.meters[p.in.ipv4.src].peak.has(size, rate: plan.pir, burst: plan.pbs);
    let green = p.before.meters[p.in.ipv4.src].committed.has(size, rate: plan.cir, burst: plan.cbs);
    expect (p.reason == "red") == red and (p.sent or p.reason in {"red", "short frame"});
    expect red or p.in.ipv4.src in p.after.meters;
    expect not p.sent or p.out.ipv4.dscp == (if green { p.in.ipv4.dscp } else { 12 }) and p.ports == {core};
  }

  /// A subscriber's meter is there for a minute after its last packet; then it would be full in any case.
  property remembered {
    for p, q in trace where p.in_port == subscribers and q.in_port == subscribers and p.in.ipv4 and q.in.ipv4
      and p.in.ipv4.src == q.in.ipv4.src and not evicted(p.at..q.at + 1ns)
      and not (exists r in trace where p.number < r.number and r.number < q.number and r.in_port == subscribers
               and r.in.ipv4 and r.in.ipv4.src == p.in.ipv4.src)
    expect (q.in.ipv4.src in q.before.meters) == (q.at - p.at < 60s);
  }

  /// What is not a subscriber's IPv4 packet passes as it is, to the other side.
  property the_rest_passes {
    for p in trace where p.in_port == core or not p.in.ipv4
    expect p.reason == "short frame" or p.out == p.in
      and (if p.in_port == core { p.ports == {subscribers} } else { p.ports == {core} });
  }
}
