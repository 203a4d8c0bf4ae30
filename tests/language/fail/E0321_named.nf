use net.l4;

nf sampler {
  port lan, wan;
  on packet {
    require hash(key: flow) % 16 == 0 else drop "not sampled";
    send wan;
  }
}
