use net.l5;

nf wire {
  port lan, wan;
  on packet { send wan; }
}
