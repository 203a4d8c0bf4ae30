use net.l4;

nf nat {
  port inside, outside;
  state {
    out: map<Flow, Endpoint> { capacity 1M; idle 5min; when full drop; }
    index back: outs by value;
  }
  on packet {
    let entry = back[Endpoint { ip: 192.0.2.1, port: flow.dport }] else drop "unsolicited";
    require entry.key.protocol == flow.protocol else drop "another protocol";
    send outside;
  }
}
