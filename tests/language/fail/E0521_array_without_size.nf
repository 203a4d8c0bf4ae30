use net.l4;

nf counter {
  port lan, wan;
  state { sizes: array<u64>; }
  on packet { sizes[hash(flow) % 16] += 1; send wan; }
}
