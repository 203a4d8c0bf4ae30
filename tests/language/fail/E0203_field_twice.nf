use net.l4;

header tag {
  kind: u8;
  kind: u8;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
