use net.l4;

nf nat {
  port inside, outside;
  config addresses: list<ipv4>;
  state {
    free: pool<Endpoint> { from addresses, 1024..65535; }
    out: map<Flow, Endpoint from pool> { capacity 1M; idle 5min; when full drop; }
  }
  on packet {
    out[flow] = free.take() else drop "no free port";
    send outside;
  }
}
