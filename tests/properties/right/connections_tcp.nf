/// A limiter of TCP connections, from the SYN to the client's FIN or RST. What follows these still passes: the record says
/// that the connection is over, and is there until nothing comes any more.
use net.l4;

nf connections_tcp {
  port inside, outside;
  state {
    over: map<Flow, bool> { capacity 4K; idle 20s; when full drop; }
    open: map<ipv6, u32> { capacity 4K; forever; when full drop; }
  }
  use test.connection_limiter { limit: 2, idle: 20s };

  action one_less(client: ipv6) {
    let n = open.peek(client) else 0;
    if n > 1 { open[client] = n - 1; } else { remove open[client]; }
  }

  on packet from inside {
    require tcp and not fragment else drop "not TCP";
    let ends = tcp.fin == 1 or tcp.rst == 1;
    let opens = tcp.syn == 1 and tcp.ack == 0 and not ends;
    let idle = over[flow] else {
      require opens else drop "no connection";
      true
    };
    if idle and opens {
      let n = open.peek(flow.src) else 0;
      require n < 2 else drop "too many";
      over[flow] = false;
      open[flow.src] = n + 1;
    }
    if ends and not idle {
      over[flow] = true;
      one_less(flow.src);
    }
    send outside;
  }
  on packet from outside { send inside; }
  on end over(f, closed, why) { if not closed { one_less(f.src); } }
}
