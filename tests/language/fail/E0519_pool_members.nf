use net.l4;

nf nat {
  port inside, outside;
  config addresses: list<ipv4>;
  state { free: pool<Endpoint> { from addresses; } }
  on packet {
    require free.len > 0 else drop "none left";
    send outside;
  }
}
