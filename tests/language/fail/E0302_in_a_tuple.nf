use net.l4;

nf sampler {
  port lan, wan;
  on packet {
    let (low, high) = (0, 1024);
    send wan;
  }
}
