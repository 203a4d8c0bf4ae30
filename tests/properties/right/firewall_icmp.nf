/// A firewall for pings and ICMP errors beside TCP and UDP.
use net.l4;

nf firewall_icmp {
  port inside, outside;
  state { talks: set<Flow> { capacity 16K; idle 30s; when full drop; } }
  use test.firewall { idle: 30s };

  on packet from inside {
    require not fragment else drop "fragment";
    if l4 or icmp and icmp.type == IcmpType.echo_request {
      talks.add(flow);
      send outside;
    }
    drop "not TCP, UDP or ping";
  }
  on packet from outside {
    require not fragment else drop "fragment";
    if l4 {
      require flow.reversed in talks else drop "unsolicited";
      send inside;
    }
    if icmp {
      if icmp.type == IcmpType.echo_reply {
        require flow.reversed in talks else drop "unsolicited";
        send inside;
      }
      if icmp.quoted.l4 {
        require quoted_flow in talks and quoted_flow.src == flow.dst else drop "about nothing";
        require len <= 590B else drop "long error";
        send inside;
      }
    }
    drop "not TCP, UDP or ping";
  }
}
