use net.l4;

nf wire {
  port lan, wan;
  schedule { class payload; fifo; }
  on packet { send wan; }
}
