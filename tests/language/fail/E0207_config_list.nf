use net.l4;

nf counter {
  port lan, wan;
  config friends: list<ipv4, u16>;
  on packet { send wan; }
}
