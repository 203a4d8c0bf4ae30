use net.l4;

nf counter {
  port lan, wan;
  state { seen: u64; }
  on packet { seen += 1; send wan; }
  every 1s {
    require seen > 1000 else drop "quiet";
    seen = 0;
  }
}
