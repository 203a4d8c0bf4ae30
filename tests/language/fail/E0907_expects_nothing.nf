use net.l4;

nf n {
  port a;
  on packet { send a; }
  property wrong { let window = 5s; }
}
