use net.l4;

nf there {
  port lan, wan;
  on packet { send wan; }
}

nf back {
  port lan, wan;
  on packet { send lan; }
}
