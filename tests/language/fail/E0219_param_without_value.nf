use net.l4;

nf policer {
  port lan, wan;
  param limit: bytes;
  on packet {
    require len <= limit else drop "too long";
    send wan;
  }
}
