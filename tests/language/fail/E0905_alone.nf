use net.l4;

nf n {
  port a;
  on packet { send a; }
  property wrong { for p in trace expect p.after == 0B; }
}
