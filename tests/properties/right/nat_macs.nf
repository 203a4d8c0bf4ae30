/// A NAT that is the router of its hosts: frames for others are not its business, and it has a MAC address at each side.
use net.l4;

nf nat_macs {
  port inside, outside;
  config public: list<ipv4>;
  param lan_mac: mac = 02:00:00:00:00:01;
  param wan_mac: mac = 02:00:00:00:00:02;
  param isp_mac: mac = 02:00:00:00:00:03;

  state {
    ports: pool<Endpoint> { from public, 20000..20999; }
    flows: map<Flow, Endpoint from ports> { capacity 16K; idle 2min; when full drop; }
    index answers: flows by (key.protocol, value, key.dst, key.dport);
    neighbours: map<ipv4, mac> { capacity 4K; forever; when full pass; }
  }
  use test.nat { idle: 2min, lowest: 20000, highest: 20999, icmp_errors: false };

  on packet from inside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ethernet.dst == lan_mac else drop "not for us";
    neighbours[ipv4.src] = ethernet.src;
    let mine = flows[flow] else {
      let free = ports.take() else drop "no free port";
      flows[flow] = free;
      free
    };
    ipv4.src = mine.ip;
    l4.sport = mine.port;
    ethernet.src = wan_mac;
    ethernet.dst = isp_mac;
    send outside;
  }

  on packet from outside {
    require ipv4 and l4 and not fragment else drop "not TCP or UDP over IPv4";
    require ethernet.dst == wan_mac else drop "not for us";
    let found = answers[(ipv4.protocol, Endpoint { ip: ipv4.dst, port: l4.dport }, flow.src, l4.sport)]
      else drop "unsolicited";
    ipv4.dst = found.key.src as ipv4;
    l4.dport = found.key.sport;
    let there = neighbours[ipv4.dst] else drop "host gone";
    ethernet.dst = there;
    ethernet.src = lan_mac;
    send inside;
  }
}
