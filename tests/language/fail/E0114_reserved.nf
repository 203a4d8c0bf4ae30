use net.l4;

nf wire {
  port in, out;
  on packet { send out; }
}
