use net.l4;

nf monitor {
  port lan, wan;
  relevant ipv4.src, tpc.flags else drop "not TCP";
  on packet { send wan; }
}
