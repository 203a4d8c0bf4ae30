use net.l4;

nf counter {
  port lan, wan;
  state { seen: uint32; }
  on packet { seen += 1; send wan; }
}
