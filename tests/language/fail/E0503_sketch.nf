use net.l4;

nf counter {
  port lan, wan;
  state { sizes: count_min<Flow> { error 0.1%; } }
  on packet {
    sizes.count(flow);
    send wan;
  }
}
