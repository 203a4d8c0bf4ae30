/// A load balancer that begins with a SYN: a segment of a connection that it does not know is nobody's.
use net.l4;

nf balancer_syn {
  port clients, servers;
  param service: ipv4 = 192.0.2.1;
  config farm: list<ipv4>;
  state { chosen: map<Flow, ipv4> { capacity 4K; idle 1min; when full drop; } }
  use test.load_balancer { idle: 1min };

  on packet from clients {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == service else drop "not for the service";
    require ipv4.ihl == 5 else drop "options";
    require farm.len > 0 else drop "no server";
    let known = chosen.peek(flow) else 0.0.0.0;
    require known != 0.0.0.0 or udp or tcp.syn == 1 and tcp.ack == 0 else drop "no such connection";
    let server = if known != 0.0.0.0 { known } else { farm[hash(flow) % farm.len] };
    chosen[flow] = server;
    ipv4.dst = server;
    send servers;
  }
  on packet from servers { send clients; }
}
