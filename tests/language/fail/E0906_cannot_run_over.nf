use net.l4;

nf n {
  port a;
  on packet { send a; }
  property wrong { for b in 5s expect b == 5s; }
}
