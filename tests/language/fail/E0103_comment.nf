use net.l4;

/* Everything passes.

nf wire {
  port lan, wan;
  on packet { send wan; }
}
