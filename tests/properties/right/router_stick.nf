/// A router on a stick: all networks are VLANs of one trunk, and packets go back into it with another tag.
use net.l4;

struct Hop { vid: bit<12>, mac: mac }

nf router_stick {
  port trunk;
  config own:    map<bit<12>, mac>;
  config routes: lpm<ipv4, Hop>;
  use test.router;

  on packet from trunk {
    require ipv4 and vlan[0] and not vlan[1] else drop "not IPv4 in a VLAN";
    let here = own[vlan[0].vid] else drop "not in this VLAN";
    require ethernet.dst == here else drop "for another station";
    require ipv4.ttl > 1 else drop "time exceeded";
    let hop = routes[ipv4.dst] else drop "no route";
    let there = own[hop.vid] else drop "not in that VLAN";
    ipv4.ttl -= 1;
    vlan[0].vid = hop.vid;
    ethernet.src = there;
    ethernet.dst = hop.mac;
    bounce;
  }
}
