use net.l4;

header tag {
  kind: u16 next EtherTypes;
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
