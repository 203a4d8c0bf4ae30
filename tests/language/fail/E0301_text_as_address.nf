use net.l4;

nf nat {
  port inside, outside;
  on packet {
    require ipv4 else drop "not IPv4";
    ipv4.src = "192.0.2.1";
    send outside;
  }
}
