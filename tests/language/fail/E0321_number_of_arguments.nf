use net.l4;

nf counter {
  port lan, wan;
  state { sizes: count_min<Flow> { error 0.1%; } }
  on packet {
    require sizes.estimate(flow, len as u64) < 1M else drop "enough";
    sizes.add(flow, len as u64);
    send wan;
  }
}
