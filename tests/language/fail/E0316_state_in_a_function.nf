use net.l4;

nf counter {
  port lan, wan;
  state { seen: u64; }
  fn busy() -> bool { seen > 1000 }
  on packet {
    seen += 1;
    require not busy() else drop "enough";
    send wan;
  }
}
