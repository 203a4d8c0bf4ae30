use net.l4;

header tag {
  kind: u16;
  check: u16 checksum(header, payload);
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
