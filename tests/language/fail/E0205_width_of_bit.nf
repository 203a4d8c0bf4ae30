use net.l4;

nf counter {
  port lan, wan;
  state { seen: bit<256>; }
  on packet { seen += 1; send wan; }
}
