use net.l4;

nf wire {
  port lan, wan;
  traffic { rate 100Gbps; size 1KB; }
  on packet { send wan; }
}
