use net.l4;

nf n {
  port a;
  on packet { send a; }
  property wrong { expect outputs(batsh: 32) == outputs(); }
}
