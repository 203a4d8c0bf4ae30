use net.l4;

nf counter {
  port lan, wan;
  state { sizes: count_min<Flow, u64> { error 0.1%; } }
  on packet { send wan; }
}
