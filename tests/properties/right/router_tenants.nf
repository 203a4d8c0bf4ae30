/// A router of tenants: each has a VLAN of the trunk, and a neighbour of its own on the uplink, where there are no tags.
use net.l4;

struct Host { vid: bit<12>, mac: mac }

nf router_tenants {
  port trunk, uplink;
  config exits: map<bit<12>, mac>;
  config hosts: map<ipv6, Host>;
  use test.router;

  on packet from trunk {
    require ipv6 and vlan[0] and not vlan[1] else drop "not IPv6 in a VLAN";
    let exit = exits[vlan[0].vid] else drop "no tenant";
    require ipv6.hop_limit > 1 else drop "time exceeded";
    ipv6.hop_limit -= 1;
    ethernet.dst = exit;
    pop vlan[0];
    send uplink;
  }
  on packet from uplink {
    require ipv6 and not vlan[0] else drop "not IPv6, or tagged";
    let host = hosts[ipv6.dst] else drop "no such host";
    require ipv6.hop_limit > 1 else drop "time exceeded";
    ipv6.hop_limit -= 1;
    ethernet.dst = host.mac;
    push vlan { vid: host.vid } before ipv6;
    send trunk;
  }
}
