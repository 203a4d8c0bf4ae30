use net.l4;

nf zones {
  port a, b;
  config local: set<ipv6>;
  config since: time = 0 as time;
  config fast:  map<ipv6, bool>;
  on packet { send b; }
}
