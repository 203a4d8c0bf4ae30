use net.l4;

nf nat {
  port inside, outside;
  state { free: pool<u16> { per flow.protocol; } }
  on packet { send outside; }
}
