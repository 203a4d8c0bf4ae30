/// A limiter of conversations by source: every packet, of either side, starts the age of their entry anew.
use net.l4;

nf connections_refreshed {
  port inside, outside;
  state {
    talks: map<Flow, u64> { capacity 1K; age 15s; when full drop; }          // how many packets
    open:  map<ipv6, u64> { capacity 1K; forever; when full drop; }          // how many talks
  }
  use test.connection_limiter { limit: 2, idle: 15s };

  on packet from inside {
    require l4 and not fragment else send outside;
    let n = open.peek(flow.src) else 0;
    let packets = talks[flow] else {
      require n < 2 else drop "too many";
      0
    };
    talks[flow] = packets + 1;
    if packets == 0 { open[flow.src] = n + 1; }
    send outside;
  }
  on packet from outside {
    require l4 and not fragment else send inside;
    if let packets = talks[flow.reversed] { talks[flow.reversed] = packets + 1; }
    send inside;
  }
  on end talks(f, packets, why) {
    let n = open.peek(f.src) else 0;
    if n > 1 { open[f.src] = n - 1; } else { remove open[f.src]; }
  }
}
