use net.l4;

nf wire {
  port a, b;
  config hosts: list<ipv4>;
  on packet from a { send b; }
  on packet from b { send a; }
}
