use net.l4;

block counter {
  port lan;
  state { seen: u64; }
  action count() { seen += 1; }
}
