use net.l4;

nf counter {
  port lan, wan;
  state { seen: u64; }
  on packet {
    send wan;
    seen += 1;
  }
}
