nf wire {
  use net.l4;
  port lan, wan;
  on packet { send wan; }
}
