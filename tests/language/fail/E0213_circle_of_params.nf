use net.l4;

nf policer {
  port lan, wan;
  param burst: bytes = twice / 2;
  param twice: bytes = burst * 2;
  on packet {
    require len < burst and len < twice else drop "too long";
    send wan;
  }
}
