use net.l4;

nf wire {
  port lan, wan;
  traffic { rate 300Gbps; flows 13M; new 3M; }
  on packet { send wan; }
}
