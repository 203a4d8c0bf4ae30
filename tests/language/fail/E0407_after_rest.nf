use net.l4;

header tag {
  length: u8;
  text: rest;
  check: u8;
  size length as u16 + 2;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
