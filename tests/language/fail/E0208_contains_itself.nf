use net.l4;

struct Hop { address: ipv4, following: Hop }

nf router {
  port lan, wan;
  config hops: map<ipv4, Hop>;
  on packet { send wan; }
}
