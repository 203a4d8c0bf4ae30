use net.l4;

nf limited {
  use limits as limits;
  port a, b;
  on packet { limits.check(); send b; }
}
