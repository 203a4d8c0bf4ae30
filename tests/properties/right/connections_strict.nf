/// At most two conversations for each source; what begins with anything but a SYN is none, nor what has options.
use net.l4;

nf connections_strict {
  port inside, outside;
  state {
    talks:  set<Flow> { capacity 4K; idle 20s; when full drop; }
    counts: map<ipv6, u32> { capacity 4K; forever; when full drop; }
  }
  use test.connection_limiter { limit: 2, idle: 20s };

  on packet from inside {
    require l4 and not fragment else drop "not TCP or UDP";
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    let n = counts.peek(flow.src) else 0;
    let known = flow in talks;
    require known or udp or tcp.syn == 1 and tcp.ack == 0 else drop "not begun";
    require known or n < 2 else drop "too many";
    talks.add(flow);
    if not known { counts[flow.src] = n + 1; }
    send outside;
  }
  on packet from outside {
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    send inside;
  }
  on end talks(f, v, why) {
    let n = counts.peek(f.src) else 0;
    if n > 1 { counts[f.src] = n - 1; } else { remove counts[f.src]; }
  }
}
