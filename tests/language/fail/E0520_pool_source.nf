use net.l4;

nf nat {
  port inside, outside;
  config addresses: list<ipv6>;
  state { free: pool<Endpoint> { from addresses, 1024..65535; } }
  on packet {
    require free.len > 0 else drop "none left";
    send outside;
  }
}
