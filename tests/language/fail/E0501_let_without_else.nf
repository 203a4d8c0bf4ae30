use net.l4;

nf nat {
  port inside, outside;
  config addresses: list<ipv4>;
  state { free: pool<ipv4> { from addresses; } }
  on packet {
    require ipv4 else drop "not IPv4";
    let mine = free.take();
    ipv4.src = mine;
    send outside;
  }
}
