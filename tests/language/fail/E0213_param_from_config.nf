use net.l4;

nf policer {
  port lan, wan;
  param burst: bytes = rate_burst;
  config rate_burst: bytes = 64KB;
  state { limit: token_bucket(10Mbps, burst); }
  on packet {
    require limit.take(len) and rate_burst > 0B else drop "too fast";
    send wan;
  }
}
