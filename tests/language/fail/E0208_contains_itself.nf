use net.l4;

struct Hop { address: ipv4, following: Hop }

nf router {
  port lan, wan;
  config hops: map<ipv6, Hop>;
  on packet {
    let hop = hops[flow.dst] else drop "unknown";
    require hop.address != 0.0.0.0 else drop "nowhere";
    send wan;
  }
}
