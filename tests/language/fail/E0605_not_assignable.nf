use net.l4;

nf nat {
  port inside, outside;
  param public: ipv4 = 192.0.2.1;
  on packet {
    require ipv4 else drop "not IPv4";
    flow.src = public as ipv6;
    send outside;
  }
}
