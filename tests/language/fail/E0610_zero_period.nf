use net.l4;

nf counter {
  port lan, wan;
  param interval: duration = 0s;
  state { seen: u64; }
  on packet { seen += 1; send wan; }
  every interval { seen = 0; }
}
