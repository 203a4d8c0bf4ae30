use net.l4;

nf n {
  port a;
  on packet { send a; }
  property wrong { expect sum(r in trace where r.sent) > 0B; }
}
