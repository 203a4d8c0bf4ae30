use net.l4

nf wire {
  port lan, wan;
  on packet { send wan; }
}
