use net.l4;

nf wire {
  port inside, outside;
  on packet { send outsid; }
}
