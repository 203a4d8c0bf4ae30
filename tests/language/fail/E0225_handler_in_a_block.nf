use net.l4;

nf wire {
  port lan, wan;
  use lib.handler as filter;
  on packet { filter.check(); send wan; }
}
