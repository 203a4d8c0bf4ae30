use net.l4;

nf nat {
  port inside, outside;
  state { taken: set<Endpoint> { capacity 1K; idle 30s; when full drop; } }
  on packet {
    require ipv4 else drop "not IPv4";
    taken.add(Endpoint { addr: ipv4.src, port: flow.sport });
    send outside;
  }
}
