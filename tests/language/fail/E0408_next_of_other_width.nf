use net.l4;

enum TagKind: u8 { ipv4 = 1, ipv6 = 2 }

header tag {
  kind: u16 next TagKind;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
