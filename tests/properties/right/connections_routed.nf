/// A limiter of conversations in a router: what expires, is too long or is mail does not count.
use net.l4;

nf connections_routed {
  port inside, outside;
  state {
    talks:  set<Flow> { capacity 4K; idle 20s; when full drop; }
    counts: map<ipv6, u32> { capacity 4K; forever; when full drop; }
  }
  use test.connection_limiter { limit: 2, idle: 20s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    require not (ipv4 and ipv4.ttl <= 1) else drop "expired";
    if ipv4 { ipv4.ttl -= 1; }
    require not (tcp and flow.dport == 25) else drop "mail";
    require len <= 1514B else drop "too long";
    let n = counts.peek(flow.src) else 0;
    let known = flow in talks;
    require known or n < 2 else drop "too many";
    talks.add(flow);                                          // first: there may be no room for it
    if not known { counts[flow.src] = n + 1; }
    send outside;
  }
  on packet from outside { send inside; }
  on end talks(f, v, why) {
    let n = counts.peek(f.src) else 0;
    if n > 1 { counts[f.src] = n - 1; } else { remove counts[f.src]; }
  }
}
