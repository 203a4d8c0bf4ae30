use net.l4;

header tag {
  kind: u8;
  priority: bit<3>;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
