use net.l4;

header tag {
  count: u16;
  hops: list<ipv4>;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
