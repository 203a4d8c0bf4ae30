use net.l4;

nf counter {
  port lan, wan;
  state { sizes: count_min<Flow> { error 0.1%; } }
  on packet {
    require not (flow in sizes) else drop "seen before";
    sizes.add(flow, 1);
    send wan;
  }
}
