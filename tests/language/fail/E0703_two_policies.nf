use net.l4;

nf shaper {
  port lan, wan;
  schedule { class flow; priority 1; drr 2; serve 10Gbps; buffer 1MB; when full drop; }
  on packet { send wan; }
}
