/// A load balancer whose table throws out the flow that was silent longest, with a record for each flow.
use net.l4;

struct Choice { server: ipv4, packets: u32 }

nf balancer_evicting {
  port clients, servers;
  param service: ipv4 = 192.0.2.1;
  config farm: list<ipv4>;
  state {
    choices: map<Flow, Choice> { capacity 1K; idle 45s; when full evict oldest; }
  }
  use test.load_balancer { idle: 45s, sticky: false };

  on packet from clients {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ipv4.dst == service else drop "not for the service";
    require farm.len > 0 else drop "no server";
    let c = choices.peek(flow) else Choice { server: farm[hash(now, flow) % farm.len], packets: 0 };
    choices[flow] = Choice { server: c.server, packets: c.packets + 1 };
    ipv4.dst = c.server;
    send servers;
  }
  on packet from servers { drop "answers go another way"; }
}
