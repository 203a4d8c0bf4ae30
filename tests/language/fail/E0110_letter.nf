use net.l4;

nf counter {
  port lan, wan;
  state { zähler: u64; }
  on packet { zähler += 1; send wan; }
}
