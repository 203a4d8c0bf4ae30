use net.l4;

nf policer {
  port lan, wan;
  on packet {
    require len < 1500 else drop "long";
    send wan;
  }
}
