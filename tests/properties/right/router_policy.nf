/// A router that sends voice another way than the rest, and knows its own MAC addresses.
use net.l4;

nf router_policy {
  port lan, fast, slow;
  param own: mac = 02:00:00:00:00:01;
  param fast_mac: mac = 02:00:00:00:00:02;
  param slow_mac: mac = 02:00:00:00:00:03;
  use test.router;

  on packet from lan {
    require ethernet and ethernet.dst == own else drop "not for us";
    require ipv4 else drop "not IPv4";
    require ipv4.ttl > 1 else drop "expired";
    ipv4.ttl -= 1;
    ethernet.src = own;
    if ipv4.dscp == 46 {
      ethernet.dst = fast_mac;
      send fast;
    }
    ethernet.dst = slow_mac;
    send slow;
  }
  on packet from fast, slow { drop "one way"; }
}
