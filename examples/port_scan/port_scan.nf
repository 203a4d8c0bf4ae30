/// A port-scan detector: a source may try only so many ports of hosts within a while, and sees nothing of the others.
use net.l4;

/// A port of a host, and who has tried it.
struct Try { source: ipv6, host: ipv6, port: u16 }

nf port_scan {
  port outside, inside;
  config limit: u64;

  relevant flow, tcp.{ack, rst} when tcp;

  state {
    tries:   set<Try> { capacity 1M; idle 10s; when full evict oldest; }
    /// How many of them each source has. There are never more sources than tries, so this is never full.
    targets: map<ipv6, u64> { capacity 2M; forever; when full drop; }
  }
  schedule { class flow; fifo; }

  on end tries(t, value, why) {
    let n = targets.peek(t.source) else 0;
    if n > 1 { targets[t.source] = n - 1; } else { remove targets[t.source]; }
  }

  action detect() {
    let target = Try { source: flow.src, host: flow.dst, port: flow.dport };
    if not (target in tries) {
      let n = targets.peek(flow.src) else 0;
      require n < limit else drop "port scan";
      targets[flow.src] = n + 1;
    }
    tries.add(target);
  }

  on packet from outside {
    // Flags must not hide in a fragment that is too small for them (RFC 1858, section 3).
    require tcp or flow.protocol != IpProtocol.tcp else drop "TCP without its header";
    if tcp {
      // All segments but the first acknowledge something (RFC 9293, section 3.10.7.4). SYN, FIN, NULL and Xmas scans
      // do not, and any of them tells the sender whether a port is open.
      if tcp.ack == 0 and tcp.rst == 0 { detect(); }
    }
    send inside;
  }

  on packet from inside { send outside; }

  /// The contract, seen from outside: in no 10 s does a source get through to more than `limit` ports of hosts.
  property never_more {
    let steady = forall r in trace where r.before.limit == limit
      and not evicted(tries[Try { source: r.flow.src, host: r.flow.dst, port: r.flow.dport }]);
    for q in trace where steady and q.sent and q.in_port == outside and q.in.tcp.ack == 0 and q.in.tcp.rst == 0
    expect distinct(p in trace where p.sent and p.in_port == outside and p.in.tcp.ack == 0 and p.in.tcp.rst == 0
                      and p.flow.src == q.flow.src and p.number <= q.number and q.at - p.at < 10s:
                    (p.flow.dst, p.flow.dport)) <= limit;
  }

  /// Dropped is what would be one too many, and nothing else.
  property blocks_only_scans {
    for p in trace where p.in_port == outside
    let t = Try { source: p.flow.src, host: p.flow.dst, port: p.flow.dport };
    let tries_one_more = p.in.tcp.ack == 0 and p.in.tcp.rst == 0 and not (t in p.before.tries);
    let n = count(x in p.before.tries where x.source == p.flow.src);
    expect (p.reason == "port scan") == (tries_one_more and n >= p.before.limit);
    expect (p.reason == "TCP without its header") == (p.flow.protocol == 6 and not p.in.tcp);
    expect p.sent or p.reason in {"port scan", "TCP without its header", "short frame"}
      or tries_one_more and n == 0 and full(p.at..p.at + 1ns);
    expect (t in p.after.tries) == (t in p.before.tries
                                    or tries_one_more and (p.sent or p.reason == "short frame"));
  }

  property from_inside_all_passes {
    for p in trace where p.in_port == inside
    expect (p.sent or p.reason == "short frame") and p.after.tries.len == p.before.tries.len;
  }

  property counts_are_right {
    for p in trace
    let own = count(t in p.after.tries where t.source == p.flow.src);
    expect p.after.targets[p.flow.src] == own or own == 0 and not (p.flow.src in p.after.targets);
    expect sum(n in p.after.targets: n.value) == p.after.tries.len and (forall n in p.after.targets where n.value > 0);
  }

  /// A port counts until it has not been tried for 10 s, and no longer.
  property forgotten_in_time {
    for p, q in trace where p.in_port == outside and p.flow.src == q.flow.src and p.flow.dst == q.flow.dst
      and p.flow.dport == q.flow.dport and p.in.tcp.ack == 0 and p.in.tcp.rst == 0
      and not (exists r in trace where p.number < r.number and r.number < q.number and r.in_port == outside
               and r.flow.src == p.flow.src and r.flow.dst == p.flow.dst and r.flow.dport == p.flow.dport
               and r.in.tcp.ack == 0 and r.in.tcp.rst == 0)
    let t = Try { source: p.flow.src, host: p.flow.dst, port: p.flow.dport };
    expect not (t in p.after.tries) or evicted(tries[t], p.at..q.at + 1ns)
      or (t in q.before.tries) == (q.at - p.at < 10s);
  }

  use test.transparent;

  property crosses {
    for p in trace where p.sent
    expect p.in_port == outside and p.ports == {inside} or p.in_port == inside and p.ports == {outside};
  }
}
