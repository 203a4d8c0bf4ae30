use net.l4;

nf wire {
  port lan, wan;
  use lib.counter as counter;
  on packet { counter.count(); send wan; }
}
