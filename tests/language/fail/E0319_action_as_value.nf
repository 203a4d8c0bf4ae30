use net.l4;

nf policer {
  port lan, wan;
  state { limit: token_bucket(10Mbps, 64KB); }
  action conforms() { require limit.take(len) else drop "too fast"; }
  on packet {
    if conforms() { send wan; }
    drop "too fast";
  }
}
