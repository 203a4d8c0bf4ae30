use net.l4;

enum Kind: u8 { last = 255, none }

nf wire {
  port lan, wan;
  on packet {
    require ipv4 and ipv4.ttl != Kind.last else drop "last";
    send wan;
  }
}
