use net.l4;

nf wire {
  port lan, wan;
  schedule { fifo; }
  schedule { class flow; fifo; }
  on packet { send wan; }
}
