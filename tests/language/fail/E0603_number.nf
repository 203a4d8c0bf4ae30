use net.l4;

nf adder {
  port lan, wan;
  state { sums: array<u64>[8]; }
  on packet {
    for i in 8 { sums[i] += 1; }
    send wan;
  }
}
