use net.l4;

nf wire {
  port a, b;
  param limit: u64 = 10;                  // limit is a word here, and no use of it
  on packet from a { send b; }
  on packet from b { send a; }
}
