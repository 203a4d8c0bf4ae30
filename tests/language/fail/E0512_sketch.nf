use net.l4;

nf counter {
  port lan, wan;
  state { sizes: count_min<Flow>; }
  on packet { sizes.add(flow, 1); send wan; }
}
