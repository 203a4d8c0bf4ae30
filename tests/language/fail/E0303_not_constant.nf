use net.l4;

nf adder {
  port lan, wan;
  state { seen: array<u64>[64]; }
  on packet {
    require ipv4 else drop "not IPv4";
    for i in 0..ipv4.ttl { seen[i] += 1; }
    send wan;
  }
}
