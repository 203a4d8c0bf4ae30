use net.l4;

nf counter {
  port lan, wan;
  state { seen: u64; }
  action again() { seen += 1; again(); }
  on packet { again(); send wan; }
}
