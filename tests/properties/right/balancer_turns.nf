/// A load balancer that gives new flows to its servers in turn.
use net.l4;

nf balancer_turns {
  port clients, servers;
  config farm: list<ipv4>;
  state {
    turn: u64;
    flows: map<Flow, ipv4> { capacity 4K; idle 90s; when full drop; }
  }
  use test.load_balancer { idle: 90s };

  on packet from clients {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require farm.len > 0 else drop "no server";
    let known = flow in flows;
    if not known {
      require udp or tcp.syn == 1 and tcp.ack == 0 else drop "no connection";
      flows[flow] = farm[turn % farm.len];
      turn += 1;
    }
    let server = flows[flow] else drop "gone";
    if tcp and tcp.rst == 1 { remove flows[flow]; }
    ipv4.dst = server;
    send servers;
  }
  on packet from servers { send clients; }
}
