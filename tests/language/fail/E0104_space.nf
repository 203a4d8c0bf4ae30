use net.l4;

nf policer {
  port lan, wan;
  state { limit: token_bucket(10 Mbps, 64 KB); }
  on packet {
    require limit.take(len) else drop "too fast";
    send wan;
  }
}
