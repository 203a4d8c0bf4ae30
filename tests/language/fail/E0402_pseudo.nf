use net.l4;

header tag {
  source: u32;
  target: u32;
  pseudo source, dst;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
