use net.l4;

nf nat {
  port inside, outside;
  state { mapped: map<Flow, ipv4> { capacity 1M; idle 30s; when full drop; } }
  on packet {
    require ipv4 else drop "not IPv4";
    ipv4.src = mapped[flow];
    send outside;
  }
}
