use net.l4;

block counter {
  port inside;
  state { seen: u64; }
  action count() { if in_port == inside { seen += 1; } }
}
