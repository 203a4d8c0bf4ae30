/// A load balancer of several services, each with servers of its own; it answers to its own MAC address only.
use net.l4;

struct Service { first: u32, count: u32 }

nf balancer_services {
  port clients, servers;
  param own: mac = 02:00:00:00:00:01;
  config services: map<(ipv4, u8, u16), Service>;
  config farm: list<ipv4>;
  state { chosen: map<Flow, ipv4> { capacity 4K; idle 1min; when full drop; } }
  use test.load_balancer { idle: 1min };

  on packet from clients {
    require ethernet and ethernet.dst == own else drop "not for us";
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    let s = services[(ipv4.dst, ipv4.protocol, l4.dport)] else drop "no such service";
    require s.count > 0 and farm.len > 0 else drop "no server";
    let at = s.first as u64 + hash(flow) % (s.count as u64);
    let server = chosen.peek(flow) else farm[at % farm.len];
    chosen[flow] = server;
    ipv4.dst = server;
    ethernet.src = own;
    send servers;
  }
  on packet from servers { send clients; }
}
