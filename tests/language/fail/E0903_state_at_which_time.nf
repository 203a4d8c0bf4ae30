use net.l4;

nf n {
  port a;
  state { total: bytes; }
  on packet { send a; }
  property wrong { for p in trace expect total == 0B; }
}
