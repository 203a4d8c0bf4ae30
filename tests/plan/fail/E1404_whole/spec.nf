use net.l4;

nf mirror {
  port lan, wan;
  relevant packet;
  state { seen: u64 = 0; }
  on packet { seen += 1; require payload[0..4] != 0 else drop "empty"; send wan; }
}
