/// A router that filters too: new connections to its inside, and IPv4 options.
use net.l4;

nf router_filter {
  port inside, outside;
  param own: mac = 02:00:00:00:00:01;
  param next: mac = 02:00:00:00:00:02;
  param host: mac = 02:00:00:00:00:03;
  use test.router;

  on packet from inside {
    require ip and not vlan[0] else drop "not IP";
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    require not (ipv4 and ipv4.ttl <= 1 or ipv6 and ipv6.hop_limit <= 1) else drop "expired";
    if ipv4 { ipv4.ttl -= 1; } else if ipv6 { ipv6.hop_limit -= 1; }
    ethernet.src = own;
    ethernet.dst = next;
    send outside;
  }
  on packet from outside {
    require ip and not vlan[0] else drop "not IP";
    require not ipv4 or ipv4.ihl == 5 else drop "options";
    require not (tcp and tcp.syn == 1 and tcp.ack == 0) else drop "from outside";
    require not (ipv4 and ipv4.ttl <= 1 or ipv6 and ipv6.hop_limit <= 1) else drop "expired";
    if ipv4 { ipv4.ttl -= 1; } else if ipv6 { ipv6.hop_limit -= 1; }
    ethernet.src = own;
    ethernet.dst = host;
    send inside;
  }
}
