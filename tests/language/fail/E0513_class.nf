use net.l4;

nf wire {
  port lan, wan;
  schedule { class flow.src, flow.dst; fifo; }
  on packet { send wan; }
}
