use net.l4;

nf counter {
  port lan, wan;
  config limit: u64 = 1000;
  on packet {
    limit -= 1;
    send wan;
  }
}
