use net.l4;

nf counter {
  port lan, wan;
  state { seen: u64; }
  on packet {
    seen += 1
    send wan;
  }
}
