use net.l4;

nf nat {
  port inside, outside;
  state {
    out: map<Flow, Endpoint> { capacity 1M; idle 5min; when full drop; }
    index back: outs by value;
  }
  on packet { send outside; }
}
