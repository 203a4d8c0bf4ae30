/// A client has at most so many TCP connections at a time; the SYNs of more are dropped.
use net.l4;

/// `answered`: the server has sent its SYN; `established`: and the client has acknowledged it.
enum Phase { opening, answered, established }

/// `fins`: who has sent a FIN; bit 0 the client, bit 1 the server.
struct Connection { phase: Phase, fins: bit<2> }

nf conn_limiter {
  port clients, servers;
  config limit: u64;

  relevant flow, tcp.{syn, ack, fin, rst} when tcp;

  state {
    /// By the client's flow.
    connections: map<Flow, Connection> { capacity 1M; idle lifetime(value) max 30min; when full pass; }
    /// How many of them a client has.
    open:        map<ipv6, u64> { capacity 1M; forever; when full drop; }
  }
  schedule { class flow; fifo; }

  /// What is not established, or not any more, is transitory (RFC 5382, REQ-5).
  fn lifetime(c: Connection) -> duration {
    if c.phase == Phase.established and c.fins == 0 { 30min } else { 4min }
  }

  action one_less(client: ipv6) {
    let n = open.peek(client) else 0;
    if n > 1 { open[client] = n - 1; } else { remove open[client]; }
  }

  on end connections(f, c, why) { one_less(f.src); }

  /// A SYN. One that is sent again, or that uses the ports of a connection that is closing, is not another connection.
  action admit() {
    let fresh = Connection { phase: Phase.opening, fins: 0 };
    let known = connections[flow] else {
      let n = open.peek(flow.src) else 0;
      require n < limit else drop "too many connections";
      open[flow.src] = n + 1;
      fresh
    };
    connections[flow] = if known.fins == 0 { known } else { fresh };
    if not (flow in connections) {
      one_less(flow.src);
      drop "no room for another connection";
    }
  }

  /// What any other segment of `side` (1 the client, 2 the server) means for its connection.
  action follow(f: Flow, side: bit<2>) {
    if tcp {
      if let c = connections[f] {
        let fins = if tcp.fin == 1 { c.fins | side } else { c.fins };
        let phase =
          if side == 2 and tcp.syn == 1 and c.phase == Phase.opening { Phase.answered }
          else if side == 1 and tcp.ack == 1 and c.phase == Phase.answered { Phase.established }
          else { c.phase };
        if tcp.rst == 1 or fins == 3 { remove connections[f]; }
        else { connections[f] = Connection { phase: phase, fins: fins }; }
      }
    }
  }

  on packet from clients {
    // A SYN must not hide in a fragment that is too small for it (RFC 1858, section 3).
    require tcp or flow.protocol != IpProtocol.tcp else drop "TCP without its header";
    if tcp {
      if tcp.syn == 1 and tcp.ack == 0 and tcp.rst == 0 { admit(); } else { follow(flow, 1); }
    }
    send servers;
  }

  on packet from servers {
    follow(flow.reversed, 2);
    send clients;
  }

  /// A SYN for another connection passes exactly if its client has less than the limit (and there is room).
  property limited {
    for p in trace where p.in_port == clients
    let syn = p.in.tcp.syn == 1 and p.in.tcp.ack == 0 and p.in.tcp.rst == 0;
    let another = syn and not (p.flow in p.before.connections);
    let n = count(c in p.before.connections where c.key.src == p.flow.src);
    expect (p.reason == "too many connections") == (another and n >= p.before.limit);
    expect (p.reason == "TCP without its header") == (p.flow.protocol == 6 and not p.in.tcp);
    expect p.sent or p.reason in {"too many connections", "TCP without its header", "short frame"}
      or another and full(p.at..p.at + 1ns);
    expect not another or p.dropped and p.reason != "short frame"
      or p.after.connections[p.flow] == Connection { phase: Phase.opening, fins: 0 };
  }

  /// Each client's number is that of its connections, whatever ended the others.
  property counts_are_right {
    for p in trace
    let client = if p.in_port == clients { p.flow.src } else { p.flow.dst };
    let own = count(c in p.after.connections where c.key.src == client);
    expect p.after.open[client] == own or own == 0 and not (client in p.after.open);
    expect sum(n in p.after.open: n.value) == p.after.connections.len and (forall n in p.after.open where n.value > 0);
  }

  /// How a segment changes the connection that it belongs to.
  property followed {
    for p in trace where p.in.tcp
    let f = if p.in_port == clients { p.flow } else { p.flow.reversed };
    let side = if p.in_port == clients { 1 as bit<2> } else { 2 };
    let syn = side == 1 and p.in.tcp.syn == 1 and p.in.tcp.ack == 0 and p.in.tcp.rst == 0;
    let c = p.before.connections[f];
    let fins = if p.in.tcp.fin == 1 { c.fins | side } else { c.fins };
    let phase =
      if side == 2 and p.in.tcp.syn == 1 and c.phase == Phase.opening { Phase.answered }
      else if side == 1 and p.in.tcp.ack == 1 and c.phase == Phase.answered { Phase.established }
      else { c.phase };
    expect syn or (f in p.after.connections) == (f in p.before.connections and p.in.tcp.rst == 0 and fins != 3);
    expect syn or not (f in p.after.connections) or p.after.connections[f] == Connection { phase: phase, fins: fins };
    expect not syn or not (f in p.before.connections)
      or p.after.connections[f] == (if c.fins == 0 { c } else { Connection { phase: Phase.opening, fins: 0 } });
  }

  /// No packet makes or ends another connection.
  property others_stay {
    for p in trace
    let f = if p.in_port == clients { p.flow } else { p.flow.reversed };
    expect p.after.connections.len + (f in p.before.connections) as u64
           == p.before.connections.len + (f in p.after.connections) as u64;
    expect p.in.tcp or p.after.connections.len == p.before.connections.len;
  }

  /// A connection is forgotten when it has been silent for as long as its phase allows, and not sooner.
  property forgotten_in_time {
    for p, q in trace where p.flow.canonical == q.flow.canonical and p.in.tcp and q.in.tcp
    let f = if p.in_port == clients { p.flow } else { p.flow.reversed };
    let c = p.after.connections[f];
    let lifetime = if c.phase == Phase.established and c.fins == 0 { 30min } else { 4min };
    expect not (f in p.after.connections)
      or (exists r in trace where r.flow.canonical == p.flow.canonical and p.number < r.number and r.number < q.number)
      or (f in q.before.connections) == (q.at - p.at < lifetime)
      and (not (f in q.before.connections) or q.before.connections[f] == c);
  }

  use test.transparent;

  property crosses {
    for p in trace where p.sent
    expect p.in_port == clients and p.ports == {servers} or p.in_port == servers and p.ports == {clients};
    for p in trace where p.in_port == servers expect p.sent or p.reason == "short frame";
  }
}
