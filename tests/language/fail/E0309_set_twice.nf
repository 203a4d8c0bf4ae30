use net.l4;

nf nat {
  port inside, outside;
  param public: ipv4 = 192.0.2.1;
  state { taken: set<Endpoint> { capacity 1K; idle 30s; when full drop; } }
  on packet {
    taken.add(Endpoint { ip: public, port: flow.sport, port: flow.dport });
    send outside;
  }
}
