use net.l4;

nf policer {
  port lan, wan;
  state { limit: token_bucket(10mbps, 64KB); }
  on packet {
    require limit.take(len) else drop "too fast";
    send wan;
  }
}
